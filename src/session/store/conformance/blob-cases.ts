import type { EntryBody } from '../../log/entry.ts'
import { assertEqual, NOTE_ENTRY, toEntryBody } from './assertions.ts'
import type { StoreCase } from './store-case.ts'

/** What a store must do with blobs, and with media in entries. */
export const blobCases: readonly StoreCase[] = [
  {
    name: 'a blob is stored under the hash of its content',
    async run({ createStore, reopen }) {
      const store = await createStore()
      const bytes = new Uint8Array([1, 2, 3, 0, 255])
      const hash = await store.putBlob(bytes)
      assertEqual(await store.putBlob(bytes), hash)
      assertEqual([...((await (await reopen(store)).getBlob(hash)) ?? [])], [...bytes])
      assertEqual(await store.getBlob('0'.repeat(64)), undefined)
      assertEqual(await store.getBlob('../x'), undefined)
      const empty = await store.putBlob(new Uint8Array())
      assertEqual((await store.getBlob(empty))?.length, 0)
    },
  },
  {
    name: 'media comes back complete from every kind of entry, and equal content is stored once',
    async run({ createStore, reopen }) {
      const store = await createStore()
      const log = await store.create({ id: 'one', folder: '/' })
      const bodies = createMediaEntries(IMAGE_BASE64)
      const returned = bodies.map((body) => toEntryBody(log.append(body)))
      assertEqual(returned, bodies)
      await log.close()
      const again = await reopen(store)
      assertEqual((await again.read('one')).entries.slice(1).map(toEntryBody), bodies)
      const opened = await again.open('one')
      assertEqual(opened.entries.slice(1).map(toEntryBody), bodies)
      await opened.close()
      assertEqual((await again.getBlob(await store.putBlob(IMAGE_BYTES))) !== undefined, true)
    },
  },
  {
    name: 'base64 with other line breaks, small media and media by URL stay as they were',
    async run({ createStore, reopen }) {
      const store = await createStore()
      const log = await store.create({ id: 'one', folder: '/' })
      const parts = [
        { kind: 'media', mime: 'image/png', data: `${IMAGE_BASE64.slice(0, 80)}\n${IMAGE_BASE64.slice(80)}` },
        { kind: 'media', mime: 'image/png', data: 'AAAA' },
        { kind: 'media', mime: 'image/png', uri: 'https://example.org/a.png' },
      ] as const
      const body: EntryBody = { kind: 'user', parts, prompt: 'one#1' }
      log.append(body)
      await log.close()
      assertEqual((await (await reopen(store)).read('one')).entries.slice(1).map(toEntryBody), [body])
    },
  },
  {
    name: 'forks share media; a blob is removed with the last session that refers to it',
    async run({ createStore, reopen }) {
      const store = await createStore()
      const has = async (hash: string) => (await (await reopen(store)).getBlob(hash)) !== undefined
      const hash = await store.putBlob(IMAGE_BYTES)
      const parent = await store.create({ id: 'parent', folder: '/' })
      const [userEntry] = createMediaEntries(IMAGE_BASE64)
      const at = parent.append(userEntry ?? NOTE_ENTRY).seq
      await parent.close()
      const fork = await store.create({ id: 'fork', folder: '/', parent: { session: 'parent', seq: at } })
      assertEqual(fork.entries.filter(({ kind }) => kind === 'user').map(toEntryBody), [userEntry])
      const fileHash = await store.putBlob(Buffer.from('the previous content of a file'))
      fork.append({ kind: 'change', path: '/a', before: { blob: fileHash, mode: 0o644 } })
      await fork.close()
      await (await store.create({ id: 'other', folder: '/' })).close()
      assertEqual([await has(hash), await has(fileHash)], [true, true])
      await store.remove('fork')
      assertEqual([await has(hash), await has(fileHash)], [true, false])
      await store.remove('parent')
      assertEqual(await has(hash), false)
      assertEqual(
        (await store.list()).map(({ id }) => id),
        ['other'],
      )
    },
  },
]

const IMAGE_BYTES = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 31) % 251))

/** Long enough to be stored as a blob. */
const IMAGE_BASE64 = IMAGE_BYTES.toString('base64')

/** An entry of each kind that can contain media. */
function createMediaEntries(data: string): EntryBody[] {
  const media = { kind: 'media', mime: 'image/png', name: 'a.png', data } as const
  const text = { kind: 'text', text: 'look' } as const
  return [
    { kind: 'user', parts: [text, media], prompt: 'one#1' },
    {
      kind: 'turn',
      turn: {
        role: 'assistant',
        origin: { provider: 'p', wire: 'gemini', model: 'm' },
        parts: [media, text, { ...media, native: { wire: 'gemini', signer: 'm', data: 'sealed' } }],
        finish: { reason: 'stop' },
      },
      prompt: 'one#1',
      ms: 1,
    },
    { kind: 'result', result: { kind: 'result', id: 'c', name: 't', status: 'ok', content: [media, media] }, ms: 1 },
  ]
}
