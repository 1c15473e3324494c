// Signing: the secret that proves to your services that a request comes from here, and changing it.
import { useState } from 'react'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { useMayChange } from '../../session.tsx'
import { Button } from '../../ui/controls.tsx'
import { Code } from '../../ui/copy.tsx'
import { Dialog, ShownOnce } from '../../ui/dialog.tsx'
import { Answered, Empty, Failed, Fault, Section } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'
import { exactTime, Time } from '../../ui/time.tsx'
import { SettingsFrame } from './settings-frame.tsx'

const title = 'Signing'
const lead =
  'Custom steps and conditions that call your services are signed, so that you can tell them from requests of others.'

export function SigningPage() {
  const mayRead = useMayChange()
  const [isShown, setShown] = useState(false)
  const [rotating, setRotating] = useState(false)
  if (!mayRead) {
    return (
      <SettingsFrame title={title} lead={lead}>
        <div className="card">
          <Failed error={new Error('Only sessions that may do everything see the signing secret.')} />
        </div>
      </SettingsFrame>
    )
  }
  return (
    <SettingsFrame
      title={title}
      lead={lead}
      actions={
        <Button icon="again" onClick={() => setRotating(true)}>
          Rotate the secret
        </Button>
      }
    >
      <Section title="Secrets">
        {isShown ? (
          <Secrets />
        ) : (
          <Empty
            icon="key"
            title="The secret is hidden"
            action={<Button onClick={() => setShown(true)}>Show it</Button>}
          >
            The audit log records who looked at it.
          </Empty>
        )}
      </Section>
      <p className="text-ink-2">
        Webhook endpoints have secrets of their own: rotate them on the page of the endpoint. How to check a signature
        is described in the API reference, under Webhooks.
      </p>
      {rotating && <Rotate onClose={() => setRotating(false)} />}
    </SettingsFrame>
  )
}

function Secrets() {
  const own = useAsk(['signing', 'secrets'], () => answerOf(client.GET('/v1/environments/me')))
  return (
    <Answered of={own} rows={2}>
      {({ signingSecrets = [] }) => (
        <ul className="divide-y divide-line">
          {signingSecrets.map((one, index) => (
            <li key={one.version} className="flex flex-col gap-2 p-4">
              <p className="flex flex-wrap items-center gap-2">
                <span className="font-medium">Secret {one.version}</span>
                {index === 0 ? (
                  <Badge tone="green" icon="check">
                    Signs
                  </Badge>
                ) : one.signsUntil !== undefined && new Date(one.signsUntil).getTime() > Date.now() ? (
                  <Badge tone="amber" icon="clock">
                    {`Signs as well until ${exactTime(one.signsUntil)}`}
                  </Badge>
                ) : (
                  <Badge tone="grey" icon="minus">
                    No longer signs
                  </Badge>
                )}
                <span className="text-xs text-ink-3">
                  since <Time at={one.createdAt} />
                </span>
              </p>
              <Code label={`secret ${one.version}`} text={one.secret} />
            </li>
          ))}
        </ul>
      )}
    </Answered>
  )
}

function Rotate({ onClose }: { onClose: () => void }) {
  const rotate = useChange(() => answerOf(client.POST('/v1/environments/me/signing-secrets')), {
    touches: ['signing'],
    quiet: true,
  })
  if (rotate.data !== undefined) {
    return (
      <ShownOnce what="new secret" secret={rotate.data.secret} isReadable onClose={onClose}>
        Give it to your services within seven days: until then requests carry a signature of each secret.
      </ShownOnce>
    )
  }
  return (
    <Dialog
      title="Rotate the secret"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button look="primary" busy={rotate.isPending} onClick={() => rotate.mutate(undefined)}>
            Rotate
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <Fault error={rotate.error} />
        <p className="text-ink-2">
          Requests are signed with a new secret from now on, and for seven days with the present one as well. Links in
          e-mails that were sent stay valid.
        </p>
      </div>
    </Dialog>
  )
}
