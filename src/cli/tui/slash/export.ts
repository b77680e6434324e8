import { writeFileSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { isWireId } from '../../../wire/wires.ts'
import { exportText } from '../../command/session-export.ts'
import { tilde, untilde } from '../../own/places.ts'
import { withoutQuotes } from '../mention.ts'
import type { Desk } from './slash.ts'

/** `/export [name]`: writes this session to a file, whose ending says in which form. What is there already stays as it is. */
export async function exportSession({ front, folder, agent }: Desk, words: string): Promise<void> {
  const { id, entries } = agent().session
  const wish = wishOf(withoutQuotes(words), id)
  if (wish === undefined)
    return front.say(
      'The name ends in .md or .json: /export talk.md. Without a name it is that of the session.',
      'warn',
    )
  const text = await exportText(entries, wish.format)
  for (const name of wish.names) {
    const path = resolve(folder, untilde(name))
    const problem = written(path, text)
    if (problem === undefined) return front.say(`This session is written to ${tilde(path)}`)
    if (problem !== 'EEXIST') return front.say(`${tilde(path)} cannot be written: ${problem}`, 'bad')
  }
  front.say(`${wish.names[0]} is there already, and stays as it is. Another name: /export other.md`, 'warn')
}

/** The form, and the names to try. A name that the person gave is the only one; ours is counted up. */
function wishOf(words: string, id: string): { format: string; names: readonly string[] } | undefined {
  const ending = extname(words).toLowerCase()
  if (ending === '.md') return { format: 'markdown', names: [words] }
  if (ending === '.json') return { format: 'json', names: [words] }
  const format = words === '' ? 'markdown' : words
  if (format !== 'markdown' && format !== 'json' && !isWireId(format)) return undefined
  const own = `session-${id}${format === 'markdown' || format === 'json' ? '' : `-${format}`}`
  const end = format === 'markdown' ? 'md' : 'json'
  return { format, names: Array.from({ length: 99 }, (_unused, at) => `${own}${at === 0 ? '' : `-${at + 1}`}.${end}`) }
}

/** Writes a new file, which only its owner can read: a session may hold what is nobody else's business. */
function written(path: string, text: string): string | undefined {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
    return undefined
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'EEXIST' ? code : message
  }
}
