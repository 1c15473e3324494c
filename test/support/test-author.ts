// Who changes the configuration in tests that do so without a request.
import type { Author } from '../../src/domain/operate/audit.ts'

export const testAuthor: Author = { keyId: 'test', keyName: 'Test', address: '', requestId: null }
