// What the subscriber is notified of, and on which channels: one group for each workflow, the one for all first.
import type { Channel, Inbox, Preference } from '../client/index.ts'
import { h } from './dom.ts'
import type { Texts } from './texts.ts'

export function preferenceElements(
  preferences: readonly Preference[],
  texts: Texts,
  inbox: Inbox,
  onFailure: () => void,
): HTMLElement[] {
  return preferences
    .filter(({ channels }) => Object.keys(channels).length > 0)
    .map((preference) => groupOf(preference, texts, inbox, onFailure))
}

function groupOf({ workflow, channels }: Preference, texts: Texts, inbox: Inbox, onFailure: () => void): HTMLElement {
  const change = (channel: Channel) => async (event: Event) => {
    const box = event.target as HTMLInputElement
    try {
      await inbox.setPreference(workflow?.id, { [channel]: box.checked })
    } catch {
      // It shows what is stored.
      box.checked = !box.checked
      onFailure()
    }
  }
  const rows = (Object.entries(channels) as [Channel, boolean][]).map(([channel, isOn]) =>
    h(
      'label',
      {},
      texts.channels[channel] ?? channel,
      h('input', { type: 'checkbox', role: 'switch', checked: isOn, change: change(channel) }),
    ),
  )
  return h('fieldset', {}, h('legend', {}, workflow?.name ?? texts.everything), ...rows)
}
