// Text into the clipboard.

/** Browsers have a clipboard only for pages that came over https or from the machine itself; the older way works in all. */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    const isDone = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    if (isDone) return true
  }
  const focused = document.activeElement
  const field = document.createElement('textarea')
  field.value = text
  field.setAttribute('aria-hidden', 'true')
  // Beside what has the focus: a dialog lets nothing outside of it be selected.
  const parent = focused?.closest('dialog') ?? document.body
  parent.append(field)
  field.select()
  const isDone = document.execCommand('copy')
  field.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isDone
}
