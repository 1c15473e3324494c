// Stories of what can be pressed and filled in.
import { useState } from 'react'
import type { Look } from '../ui/controls.tsx'
import {
  Button,
  Choice,
  IconButton,
  LinkTabs,
  SelectField,
  TextArea,
  TextField,
  Ticks,
  Toggle,
} from '../ui/controls.tsx'
import { Folded } from '../ui/folded.tsx'
import { JsonField } from '../ui/json-field.tsx'
import { Menu } from '../ui/menu.tsx'
import { Picker } from '../ui/picker.tsx'
import { TemplateField } from '../ui/template-field.tsx'
import { ListField, PairsField, TimeField, ValueField } from '../ui/value-fields.tsx'
import type { Story } from './story.tsx'
import { Row, State } from './story.tsx'

const looks: readonly Look[] = ['primary', 'plain', 'quiet', 'danger']

const Buttons = () => (
  <>
    {looks.map((look) => (
      <Row key={look}>
        <Button look={look}>Send again</Button>
        <Button look={look} icon="again">
          With an icon
        </Button>
        <Button look={look} icon="again" busy>
          Busy
        </Button>
        <Button look={look} disabled>
          Disabled
        </Button>
      </Row>
    ))}
    <Row>
      <IconButton name="trash" label="Delete it" />
      <IconButton name="more" label="More" disabled />
    </Row>
  </>
)

function Fields() {
  const [text, setText] = useState('Ada Lovelace')
  return (
    <Row>
      <State name="With a hint">
        <TextField label="Name" hint="As it is shown." value={text} onText={setText} />
      </State>
      <State name="Wrong">
        <TextField label="E-mail" error="This is no e-mail address." value={text} onText={setText} />
      </State>
      <State name="Several lines">
        <TextArea label="Words" rows={2} value={text} onText={setText} />
      </State>
      <State name="One of a few">
        <SelectField
          label="Channel"
          value="email"
          options={[
            ['email', 'E-mail'],
            ['sms', 'SMS'],
          ]}
          onText={() => undefined}
        />
      </State>
    </Row>
  )
}

function Choices() {
  const [one, setOne] = useState<'day' | 'week' | 'month'>('day')
  const [isOn, setOn] = useState(true)
  const [some, setSome] = useState<string[]>(['read'])
  return (
    <Row>
      <State name="One of a few, shown beside it">
        <Choice
          label="Period"
          value={one}
          onChange={setOne}
          options={[
            ['day', 'Day'],
            ['week', 'Week'],
            ['month', 'Month'],
          ]}
        />
      </State>
      <State name="On or off">
        <Toggle label="Active" hint="Events start it." checked={isOn} onChange={setOn} />
        <Toggle label="Disabled" checked={false} disabled onChange={setOn} />
      </State>
      <State name="Several of many">
        <Ticks
          label="Scopes"
          chosen={some}
          onChange={setSome}
          options={[
            ['read', 'Read', 'Everything that was sent'],
            ['write', 'Write'],
          ]}
        />
      </State>
    </Row>
  )
}

const Tabs = () => (
  <LinkTabs
    label="Tabs"
    tabs={[
      { to: '/dev/ui', text: 'This one', isActive: true },
      { to: '/dev/other', text: 'Another' },
    ]}
  />
)

const Menus = () => (
  <Menu
    label="What to do"
    button={<Button>Open the menu</Button>}
    items={[
      { text: 'Rename', onSelect: () => undefined },
      { text: 'Copy', icon: 'copy', hint: 'With all its steps', onSelect: () => undefined },
      { text: 'Not now', disabled: true, onSelect: () => undefined },
      'line',
      { text: 'Delete', icon: 'trash', danger: true, onSelect: () => undefined },
    ]}
  />
)

const people = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing'].map((name) => ({ id: name, name, hint: 'A subscriber' }))
const useFoundPeople = (text: string) => ({
  items: people.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase())),
  hasMore: text === '',
})

function Pickers() {
  const [name, setName] = useState<string>()
  return (
    <Picker
      label="Person"
      shown={name ?? 'Anyone'}
      isChosen={name !== undefined}
      all="Anyone"
      placeholder="A part of the name"
      none="No one is called that"
      className="max-w-64"
      useFound={useFoundPeople}
      onPick={(one) => setName(one?.name)}
    />
  )
}

function Templates() {
  const [text, setText] = useState('Hello {{ subscriber.firstName | upcase }}')
  const [value, setValue] = useState<Record<string, unknown>>({ plan: 'gold' })
  return (
    <Row>
      <State name="Liquid">
        <TemplateField label="Text of the message" rows={3} value={text} onText={setText} />
      </State>
      <State name="Wrong">
        <TemplateField label="Subject" error="output is not closed" value="{{ name" onText={setText} />
      </State>
      <State name="JSON">
        <JsonField label="Data" value={value} onValue={setValue} open rows={3} />
        <JsonField label="Folded away" value={value} onValue={setValue} />
      </State>
    </Row>
  )
}

function Values() {
  const [tags, setTags] = useState<readonly string[]>(['news', 'shop'])
  const [time, setTime] = useState('09:00')
  const [value, setValue] = useState<unknown>(5)
  const [headers, setHeaders] = useState<Record<string, string>>({ 'x-team': 'orders' })
  return (
    <Row>
      <State name="Values of several kinds">
        <ListField label="Tags" hint="With commas between them." values={tags} onValues={setTags} />
        <TimeField label="At" value={time} onText={setTime} />
        <ValueField label="Value" value={value} onValue={setValue} />
      </State>
      <State name="Pairs">
        <PairsField label="Headers" value={headers} onValue={(next) => setHeaders(next ?? {})} />
      </State>
      <State name="Folded away">
        <Folded label="More settings">{() => <TextField label="Name" value={time} onText={setTime} />}</Folded>
      </State>
    </Row>
  )
}

export const controlStories: readonly Story[] = [
  { name: 'Buttons', shows: Buttons },
  { name: 'Fields', shows: Fields },
  { name: 'Choices', shows: Choices },
  { name: 'Tabs', shows: Tabs },
  { name: 'Menu', shows: Menus },
  { name: 'Picker', shows: Pickers },
  { name: 'Templates and JSON', shows: Templates },
  { name: 'Values', shows: Values },
]
