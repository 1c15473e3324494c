// Light or dark: follows the system unless it was set.
const name = 'posthorn-theme'

export type Theme = 'system' | 'light' | 'dark'

export function chosenTheme(): Theme {
  try {
    const kept = localStorage.getItem(name)
    return kept === 'light' || kept === 'dark' ? kept : 'system'
  } catch {
    // A browser that keeps nothing.
    return 'system'
  }
}

const system = matchMedia('(prefers-color-scheme: dark)')

export function showTheme(theme: Theme = chosenTheme()): void {
  const isDark = theme === 'dark' || (theme === 'system' && system.matches)
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
}

export function chooseTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(name)
    else localStorage.setItem(name, theme)
  } catch {
    // It holds until the page is left.
  }
  showTheme(theme)
}

system.addEventListener('change', () => showTheme())
