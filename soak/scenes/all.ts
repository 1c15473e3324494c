// The scenes, in the order in which they are run.
import type { Scene } from '../scene.ts'
import { oneNode, oneNodeAndDatabase, startBursts } from './one-node.ts'

export const scenes: readonly Scene[] = [oneNode, oneNodeAndDatabase, startBursts]
