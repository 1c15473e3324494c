// Every email provider, held to its contract.
import { holdAllToContract } from '../support/all-contracts.ts'

await holdAllToContract('email')
