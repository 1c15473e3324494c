// An e-mail as mail clients show it in their dark theme: with the dark styles of its own, or inverted where it has none.

const asked = /prefers-color-scheme\s*:\s*(dark|light)/gi

export const hasDarkStyles = (html: string): boolean => /prefers-color-scheme\s*:\s*dark/i.test(html)

/** Pictures are turned back, so that faces and logos look as they are. */
const inverted =
  '<style>html{background:#fff;min-height:100%;filter:invert(.92) hue-rotate(180deg)}img,video{filter:invert(1) hue-rotate(180deg)}</style>'

/**
 * The frame has the theme of the page around it, whatever is asked for here; so the question itself is replaced by one whose
 * answer is known: every width is at least 0, and none is below.
 */
const answered = (html: string): string =>
  html.replace(asked, (_whole, scheme: string) => (scheme.toLowerCase() === 'dark' ? 'min-width:0' : 'max-width:0'))

export const inDark = (html: string): string =>
  hasDarkStyles(html) ? `${answered(html)}<style>:root{color-scheme:dark}</style>` : `${html}${inverted}`
