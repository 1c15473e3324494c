// Chooses a subscriber by name, address or id.
import { answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import type { Pickable } from '../../ui/picker.tsx'
import { Picker } from '../../ui/picker.tsx'
import { nameOfSubscriber } from './subscriber-names.ts'

/** As many as are read at a glance; typing narrows them down. */
const shownMax = 10

function useSubscribers(text: string) {
  const wanted = text.trim()
  const found = useAsk(
    ['subscribers', 'found', wanted],
    async () => {
      const ask = (query: Record<string, string>) =>
        answerOf(client.GET('/v2/subscribers', { params: { query: { limit: shownMax, ...query } } }))
      const [byId, others] = await Promise.all([
        wanted === '' ? undefined : ask({ subscriberId: wanted }),
        ask(wanted === '' ? {} : wanted.includes('@') ? { email: wanted } : { name: wanted }),
      ])
      const all = new Map([...(byId?.data ?? []), ...others.data].map((one) => [one.subscriberId, one]))
      const items = [...all.values()].map((one) => ({
        id: one.subscriberId,
        name: nameOfSubscriber(one),
        hint: one.email ?? one.subscriberId,
      }))
      return { items, hasMore: others.next !== null }
    },
    { keeps: true },
  )
  return found.data
}

export function SubscriberPicker({
  label,
  all,
  value,
  onPick,
}: {
  label: string
  /** What it is called to choose none. */
  all: string
  value: Pickable | undefined
  onPick: (person: Pickable | undefined) => void
}) {
  return (
    <Picker
      label={label}
      shown={value?.name ?? all}
      isChosen={value !== undefined}
      all={all}
      placeholder="Search by name, e-mail or id"
      none="No subscriber fits."
      useFound={useSubscribers}
      onPick={onPick}
    />
  )
}
