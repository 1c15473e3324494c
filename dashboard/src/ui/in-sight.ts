// Bringing into sight what was chosen elsewhere, and moving nothing where it is in sight already.

/** Below this share of the window one sees too little of it. */
const seenShare = 0.6
const endMin = 80

/** The beginning of an element, by scrolling the page. */
export function showTop(element: HTMLElement | null): void {
  const top = element?.getBoundingClientRect().top ?? 0
  if (top < 0 || top > innerHeight * seenShare) element?.scrollIntoView({ block: 'start' })
}

/** An element within what scrolls by itself, and not the page. */
export function showWithin(box: HTMLElement | null, selector: string): void {
  const found = box?.querySelector(selector)
  if (box === null || found == null) return
  const { top } = found.getBoundingClientRect()
  const { top: from, bottom: to } = box.getBoundingClientRect()
  if (top < from || top > to - endMin) box.scrollTop += top - from - 16
}
