// A new signing secret, with a time during which the old one signs as well.
import { useState } from 'react'
import { answerOf, client } from '../../api.ts'
import { useChange } from '../../ask.ts'
import { SelectField } from '../../ui/controls.tsx'
import { FormDialog, ShownOnce } from '../../ui/dialog.tsx'

const overlaps = [
  ['0', 'Not at all: it is no longer secret'],
  ['3600', 'One hour'],
  ['86400', 'One day'],
  ['604800', 'One week'],
] as const

export function RotateSecret({ endpointId, onClose }: { endpointId: string; onClose: () => void }) {
  const [overlap, setOverlap] = useState('86400')
  const rotate = useChange(
    () =>
      answerOf(
        client.POST('/v1/webhook-endpoints/{endpointId}/rotate-secret', {
          params: { path: { endpointId } },
          body: { overlapSeconds: Number(overlap) },
        }),
      ),
    { touches: ['webhooks'], quiet: true },
  )
  if (rotate.data !== undefined)
    return (
      <ShownOnce what="signing secret" secret={rotate.data.secret} onClose={onClose}>
        {overlap === '0'
          ? 'Requests are signed with it from now on.'
          : 'Until the overlap ends, requests carry a signature of each secret.'}
      </ShownOnce>
    )
  return (
    <FormDialog
      title="Rotate the secret"
      action="Rotate"
      busy={rotate.isPending}
      error={rotate.error}
      onSubmit={() => rotate.mutate(undefined)}
      onClose={onClose}
    >
      <SelectField
        label="How long the old secret stays valid"
        hint="Long enough to give your backend the new one."
        value={overlap}
        options={overlaps}
        onText={setOverlap}
      />
    </FormDialog>
  )
}
