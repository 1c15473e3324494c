// docs/compatibility.md: every method of the public client, and whether it is served.
import { clientMethods, clientVersion, exceptionOf } from './client-methods.ts'
import { table } from './markdown-table.ts'

const differences = [
  '`translations`: texts of a workflow or layout are printed with the filter `t` (`{{ "title" | t }}`), not as `{{t.title}}`.',
  '`environmentVariables`: an API key opens one environment, so `values` holds that of its environment alone. Secret values are shown as `[hidden]` and printed only in the headers of custom steps.',
  '`environments.update`, `environments.delete`: with a key of the environment itself. Development and Production stay.',
  '`layouts`: HTML with Liquid; documents of the block editor are not read.',
  '`subscribers.notifications`: without `contextKeys`, the notifications of all contexts.',
  'Old spellings of `@novu/node` under `/v1` that are missing: organizations, changes, execution details. What replaced them is in the reference.',
]

export function compatibilityPage(): string {
  const methods = clientMethods()
  const served = methods.filter(({ name }) => exceptionOf(name) === undefined)
  const excepted = methods.filter(({ name }) => exceptionOf(name) !== undefined)
  const request = ({ verb, path }: { verb: string; path: string }): string => `\`${verb} ${path}\``
  return `<!-- Generated from scripts/client-methods.ts by \`npm run docs\`: change that file, not this one. -->

# Compatibility

Generated from scripts/client-methods.ts and the code of \`@novu/api\` ${clientVersion}. Of its ${methods.length} methods ${served.length} are
served: test/api/novu-methods.test.ts calls each with the client as published, whose own models parse the answer.
${excepted.length} are not; each has a reason below. [The inbox](inbox.md) is for the packages that run in pages.

## What differs

${differences.map((one) => `- ${one}\n`).join('')}
## Not served

${table(
  ['Method', 'Instead'],
  excepted.map(({ name }) => [`\`${name}\``, exceptionOf(name) ?? '']),
)}
## Served

${table(
  ['Method', 'Request'],
  served.map((method) => [`\`${method.name}\``, request(method)]),
)}`
}
