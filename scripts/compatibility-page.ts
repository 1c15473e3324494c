// docs/compatibility.md: every method of the public client, and whether it is served.
import { clientMethods, clientVersion, exceptionOf } from './client-methods.ts'
import { table } from './markdown-table.ts'
import { nodeClientMethods, nodeClientVersion, nodeExceptionOf } from './node-client-methods.ts'

const inNode = 'In Node: session,'
const stories =
  'In Chromium: bell, a new one without a reload, button, read, archive, snooze, tabs, preferences, two tabs'

/** Version 2 has no snoozing. */
const old =
  'In Chromium: bell, a new one without a reload, button, read, archive, tabs, preferences, two tabs, a restart'

const nodeDifferences = [
  'Answers are not wrapped in `data`: what is `response.data.data` at the other vendor is `response.data` here; lists have `data` as there.',
  '`environments.getApiKeys` shows names, scopes and the last characters of keys; the keys themselves are shown once, when they are created.',
  '`topics.get` has no list of subscribers; `topics.checkSubscriber` and `GET /v2/topics/{topicKey}/subscriptions` do.',
  '`topics.addSubscribers` and `topics.removeSubscribers` take at most 100 ids.',
  '`layouts.get` asks for the list with a parameter, so it is answered with the list, as at the other vendor.',
  '`environments.updateOne`: with a key of the environment itself.',
]

const differences = [
  '`translations`: texts of a workflow or layout are printed with the filter `t` (`{{ "title" | t }}`), not as `{{t.title}}`.',
  '`environmentVariables`: an API key opens one environment, so `values` holds that of its environment alone. Secret values are shown as `[hidden]` and printed only in the headers of custom steps.',
  '`environments.update`, `environments.delete`: with a key of the environment itself. Development and Production stay.',
  '`layouts`: HTML with Liquid; documents of the block editor are not read.',
  '`subscribers.notifications`: without `contextKeys`, the notifications of all contexts.',
  '`topics.subscriptions`: one per subscriber and topic, for all contexts. A preference given with a tag is stored for the workflows that have the tag then.',
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
)}
${pagesSection()}${nodeSection()}`
}

/** Tried on 2026-11-17, with the packages in a folder; they are no dependencies of the project. */
const pagePackages = [
  ['`@novu/react`', '3.19.2', `${stories}, a restart`],
  ['`@novu/js/ui`', '3.19.2', `${stories}, a restart`],
  ['`@novu/js/ui`', '2.6.6', old],
  ['`@novu/nextjs`', '3.19.2', `${stories}, a restart`],
  ['`@novu/react`, `@novu/nextjs`', '2.6.6', old],
  ['`@novu/js`', '3.19.2, 3.12.0, 3.8.1, 3.0.3, 2.6.6', `${inNode} list, counts, marks, button, preferences, events`],
  ['`@novu/headless`', '2.6.6', 'In Chromium: session, feed, counts, marks, preferences, three events, a restart'],
  ['`@novu/headless`', '2.6.6, 2.0.0, 0.24.2', `${inNode} feed, counts, marks, button, preferences, three events`],
]

const pagesSection = (): string => `## Packages for pages

They work unchanged; [the inbox](inbox.md#public-components-react-nextjs-plain-javascript) says what to give them. They and what they
bring are over a hundred megabytes, so they are installed where they are tried: \`NOVU_PACKAGES=FOLDER npm test -- inbox/public-packages\`,
\`NOVU_PACKAGES=FOLDER npm test -- browser/novu-headless\` and \`NOVU_INBOX=@novu/nextjs NOVU_PACKAGES=FOLDER npm test -- browser/novu-inbox\`.

${table(['Package', 'Versions tried', 'How'], pagePackages)}
Version 2 has no snoozing. Its style sheet comes from a public network, which the pages have to be allowed to reach.

`

/** The client before it, which its users still have. */
function nodeSection(): string {
  const excepted = nodeClientMethods.filter(({ name }) => nodeExceptionOf(name) !== undefined)
  const served = nodeClientMethods.filter(({ name }) => nodeExceptionOf(name) === undefined)
  return `## The older client \`@novu/node\`

Of the ${nodeClientMethods.length} methods of \`@novu/node\` ${nodeClientVersion} ${served.length} are served, at the addresses under \`/v1\` that it calls
(\`backendUrl\` is the address of the service): test/api/novu-node.test.ts sends each request. With the package itself installed in a
folder, \`NOVU_PACKAGES=FOLDER npm test -- api/novu-node\` lets the package send them.

${nodeDifferences.map((one) => `- ${one}\n`).join('')}
${table(
  ['Not served', 'Instead'],
  excepted.map(({ name }) => [`\`${name}\``, nodeExceptionOf(name) ?? '']),
)}
${table(
  ['Served', 'Request'],
  served.map(({ name, verb, path }) => [`\`${name}\``, `\`${verb} ${path}\``]),
)}`
}
