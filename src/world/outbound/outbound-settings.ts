// The settings of outbound calls, with the files they name.

import type { AllowEntry } from '../../config/outbound-allow.ts'
import type { OperatorMail } from '../../config/smtp-url.ts'
import type { Config } from '../../config.ts'
import type { OutboundFetchOptions } from './outbound-fetch.ts'
import { readCaFiles } from './outbound-trust.ts'

/** Throws a sentence about a file that is no good. */
export async function readOutboundSettings(config: Config): Promise<OutboundFetchOptions> {
  const { caFiles, nodeCaFiles, httpsProxy: https, httpProxy: http, noProxy: none, proxyTarget: target } = config
  // Node reads its own file by itself, but ignores it if our certificates are added (seen with Node 20).
  const files = caFiles.length === 0 ? [] : [...caFiles, ...nodeCaFiles]
  const { outboundAllow, operatorReach, smtp } = config
  // The operator's own mail server is theirs to name.
  const ownMail = smtp === undefined ? [] : [mailEntry(smtp)]
  const proxies = { https, http, none, target }
  return { allow: [...outboundAllow, ...ownMail], operatorReach, ca: await readCaFiles(files), proxies }
}

const mailEntry = ({ host, port }: OperatorMail): AllowEntry => ({
  host,
  way: { scheme: 'smtp', port: Number(port) },
  accountsOnly: true,
})
