// What `npm run dev` watches: the command from its sources, which tsx compiles as they are loaded.
import { main } from '../src/cli/posthorn.ts'

await main(process.argv.slice(2))
