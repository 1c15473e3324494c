// The built-in providers' ids: `platform…` as the interface writes them, `novu…` as older clients do.

/** What a request may call a built-in provider, in the interface's word. */
export function platformWord(id: string): string {
  return id.replace(/^novu(?=$|-(email|sms|slack|cloud|cloud-v1)$)/, 'platform')
}

/** The same id for clients with closed enums. */
export function novuWord(id: string): string {
  return id.replace(/^platform(?=$|-(email|sms|slack|cloud|cloud-v1)$)/, 'novu')
}
