// Stories of what is shown: states, times, code, differences, messages, charts and icons.
import { useState } from 'react'
import { Chart } from '../ui/chart.tsx'
import { Code, CopyText, Json } from '../ui/copy.tsx'
import { Diff, DiffSize } from '../ui/diff.tsx'
import type { IconName } from '../ui/icons.tsx'
import { Icon, iconOfStep, nameOfStep } from '../ui/icons.tsx'
import { Bubble, EmailView } from '../ui/message-frame.tsx'
import type { Tone } from '../ui/status.tsx'
import { Badge, Status } from '../ui/status.tsx'
import { duration, Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import type { Story } from './story.tsx'
import { Row, State } from './story.tsx'

const states = [
  ...['completed', 'sent', 'delivered', 'captured', 'queued', 'running', 'pending', 'delayed', 'retrying', 'failed'],
  ...['skipped', 'retracted', 'deleted', 'canceled', 'merged', 'inactive', 'warning', 'unsure', 'bounced'],
]
const tones: readonly Tone[] = ['green', 'blue', 'amber', 'red', 'violet', 'grey']
const icons: readonly IconName[] = ['again', 'ban', 'check', 'clock', 'copy', 'cross', 'search', 'trash', 'warning']
const steps = ['email', 'in_app', 'sms', 'push', 'chat', 'digest', 'delay', 'throttle', 'custom']

const States = () => (
  <>
    <Row>
      {states.map((state) => (
        <Status key={state} state={state} />
      ))}
    </Row>
    <Row>
      {tones.map((tone) => (
        <Badge key={tone} tone={tone}>
          {tone}
        </Badge>
      ))}
    </Row>
  </>
)

const Icons = () => (
  <>
    <Row>
      {icons.map((name) => (
        <Icon key={name} name={name} />
      ))}
    </Row>
    <Row>
      {steps.map((type) => (
        <span key={type} className="flex items-center gap-1.5">
          <Icon name={iconOfStep(type)} /> {nameOfStep(type)}
        </span>
      ))}
    </Row>
  </>
)

const minuteMs = 60_000

const Times = () => (
  <Row>
    {[0, 2 * minuteMs, 300 * minuteMs, 3_000 * minuteMs, 30_000 * minuteMs].map((ago) => (
      <Time key={ago} at={new Date(Date.now() - ago).toISOString()} />
    ))}
    {[7, 950, 12_345, 600_000, 90_000_000].map((ms) => (
      <span key={ms}>{duration(ms)}</span>
    ))}
  </Row>
)

const Texts = () => (
  <Row>
    <State name="An id, copied whole">
      <CopyText text="019b7ca9-8f2e-757d-ad65-a2d8f4e13205" />
    </State>
    <State name="Code">
      <Code label="command" text="curl -H 'Authorization: ApiKey …' https://posthorn.example/v1/messages" />
    </State>
    <State name="JSON">
      <Json label="payload" value={{ order: { id: 7 } }} />
    </State>
  </Row>
)

const lines = [
  { kind: 'same', text: 'name: Order shipped' },
  { kind: 'removed', text: 'active: false' },
  { kind: 'added', text: 'active: true' },
] as const

const Differences = () => (
  <>
    <DiffSize lines={lines} />
    <Diff label="What changed" lines={lines} />
  </>
)

const Messages = () => (
  <Row>
    <State name="E-mail">
      <EmailView
        html="<p style='font-family:sans-serif'>Your order is on its way.</p>"
        text="Your order is on its way."
        subject="Order 7"
        height="h-40"
      />
    </State>
    <State name="Push">
      <Bubble channel="push" title="Order 7" content="It is on its way." />
    </State>
    <State name="SMS">
      <Bubble channel="sms" content="Order 7 is on its way." />
    </State>
  </Row>
)

const counts = (by: number): number[] => Array.from({ length: 24 }, (_, hour) => (hour * by) % 17)

function Charts() {
  const [starts] = useState(() =>
    Array.from({ length: 24 }, (_, hour) => new Date(Date.now() - (24 - hour) * 60 * minuteMs).toISOString()),
  )
  const [series] = useState(() => [
    { name: 'Sent', colour: 'green', counts: counts(7), behind: { to: '/activity/messages' } },
    { name: 'Failed', colour: 'red', counts: counts(3), behind: { to: '/activity' } },
  ])
  return (
    <>
      <Chart
        label="Bars"
        unit="per hour"
        starts={starts}
        series={series}
        onPoint={({ from, behind }) => say(`${behind?.to ?? 'all'} from ${from}`)}
      />
      <Chart label="Lines" kind="lines" unit="95 % within" starts={starts} series={series} format={duration} />
    </>
  )
}

export const contentStories: readonly Story[] = [
  { name: 'States', shows: States },
  { name: 'Icons', shows: Icons },
  { name: 'Times', shows: Times },
  { name: 'Texts and code', shows: Texts },
  { name: 'Differences', shows: Differences },
  { name: 'Messages', shows: Messages },
  { name: 'Charts', shows: Charts },
]
