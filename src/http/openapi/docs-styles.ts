// A script for the reference page: lets the reference set its styles under a policy that allows no inline styles.

/**
 * The reference creates its styles while it runs, and knows no nonce. So the page gives its nonce to every style that a
 * script creates, and has style attributes that a script writes set through the object model, as the policy allows. Styles that
 * arrive as markup, as in a description, have no nonce and stay refused; the only exception is how many lines an example has.
 */
export const styleScript = `
      {
        const { nonce } = document.currentScript
        const { createElement } = Document.prototype
        const { setAttribute } = Element.prototype
        const innerHTML = Object.getOwnPropertyDescriptor(Element.prototype, 'innerHTML')
        Document.prototype.createElement = function (...args) {
          const element = createElement.apply(this, args)
          if (element instanceof HTMLStyleElement) element.nonce = nonce
          return element
        }
        Element.prototype.setAttribute = function (name, value) {
          if (name === 'style' && this.style) this.style.cssText = value
          else setAttribute.call(this, name, value)
        }
        Object.defineProperty(Element.prototype, 'innerHTML', {
          ...innerHTML,
          set(html) {
            const lines = /\\bstyle=["'](--line-count: \\d+; --line-digits: \\d+;)["']/g
            // It may be an object that stands for markup (TrustedHTML); null stands for none.
            innerHTML.set.call(this, String(html ?? '').replace(lines, 'data-lines="$1"'))
            for (const code of this.querySelectorAll('[data-lines]')) code.style.cssText = code.dataset.lines
          },
        })
      }
    `
