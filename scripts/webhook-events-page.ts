// docs/webhook-events.md: every type of event that webhook endpoints are sent, with its members, schema and an example.
import { eventCatalogue } from '../src/http/routes/webhooks/event-catalogue.ts'
import { table } from './markdown-table.ts'

const fenced = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``

export function webhookEventsPage(): string {
  const rows = eventCatalogue.map(({ type, description }) => [`[\`${type}\`](#${anchorOf(type)})`, description])
  const sections = eventCatalogue.map(
    ({ type, description, schema, example }) => `## ${type}

${description}

${fenced(example)}

<details><summary>JSON Schema</summary>

${fenced(schema)}

</details>
`,
  )
  return `<!-- Generated from src/http/routes/webhooks/event-catalogue.ts by \`npm run docs\`: change that file, not this one. -->

# Events of webhooks

Generated from src/http/routes/webhooks/event-catalogue.ts. [Webhooks](webhooks.md) says how to receive them; a running service has the
same catalogue at \`GET /v1/webhook-endpoints/event-types\`.

${table(['Type', 'Sent when'], rows)}
${sections.join('\n')}`
}

/** As a page names the place of a heading: without dots. */
const anchorOf = (heading: string): string => heading.replaceAll('.', '')
