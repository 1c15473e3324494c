// What is wrong with the layout of a page, as the browser has drawn it: too wide, cut off, or too small for a finger.

/** Below this, a finger meets the wrong thing: https://www.w3.org/TR/WCAG22/#target-size-minimum */
const targetMin = 24

/** Evaluated in the page; answers with sentences. `isTouch` adds the sizes of what can be pressed. */
export const layoutFaults = (isTouch: boolean): string => `(() => {
  const found = []
  const root = document.documentElement
  if (root.scrollWidth > root.clientWidth) found.push('the page is ' + (root.scrollWidth - root.clientWidth) + ' pixels too wide')
  const named = (one) => {
    const words = (one.getAttribute('aria-label') ?? one.textContent ?? '').trim().replace(/\\s+/g, ' ').slice(0, 40)
    return one.tagName.toLowerCase() + ' "' + words + '"'
  }
  const isShown = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && one.closest('.sr-only') === null
  const all = [...document.querySelectorAll('body *')].filter((one) => !(one instanceof SVGElement) && isShown(one))
  const scrolls = (one) => {
    for (let at = one; at !== null && at !== document.body; at = at.parentElement) {
      if (['auto', 'scroll'].includes(getComputedStyle(at).overflowX)) return true
    }
    return false
  }
  const hasText = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '')
  for (const one of all.filter(hasText)) {
    const style = getComputedStyle(one)
    const isCut = one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 1
    if (isCut && ['hidden', 'clip'].includes(style.overflowX) && style.textOverflow !== 'ellipsis') found.push(named(one) + ' is cut off')
    const { left, right, width } = one.getBoundingClientRect()
    if (width > 0 && (left < -1 || right > root.clientWidth + 1) && !scrolls(one)) found.push(named(one) + ' lies beyond the edge')
  }
  if (!${isTouch}) return found
  const targets = all.filter((one) => one.matches('a[href], button, input, select, textarea, summary, [role=button], [role=radio], [role=switch], [role=tab], [role=menuitem], [role=separator][tabindex]'))
  // A box can be pressed wherever its label can.
  const rectOf = (one) => (one.matches('input') && one.closest('label') ? one.closest('label') : one).getBoundingClientRect()
  const rects = targets.map((one) => [one, rectOf(one)]).filter(([, { width, height }]) => width > 0 && height > 0)
  for (const [one, rect] of rects) {
    if (rect.width >= ${targetMin} && rect.height >= ${targetMin}) continue
    // A link in a sentence is as high as its line.
    if (getComputedStyle(one).display === 'inline' && [...one.parentElement.childNodes].some((node) => !targets.includes(node) && node.textContent.trim() !== '')) continue
    const [x, y] = [(rect.left + rect.right) / 2, (rect.top + rect.bottom) / 2]
    // Enough empty space around it does as well.
    const near = rects.find(([other, at]) => other !== one && !other.contains(one) && !one.contains(other) &&
      Math.hypot(Math.max(at.left - x, 0, x - at.right), Math.max(at.top - y, 0, y - at.bottom)) < ${targetMin / 2})
    if (near) found.push(named(one) + ' is ' + Math.round(rect.width) + ' × ' + Math.round(rect.height) + ' pixels small, beside ' + named(near[0]))
  }
  return found
})()`
