import { readRegularFile } from '../../../host/files/regular-file.ts'
import { addMemory, listMemories, removeMemory, toMemoryLine } from '../../../tool/builtin/support/memory-list.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { getMemoryFilePath } from '../../paths/folders.ts'
import { updatePrivateFile } from '../../paths/private-file.ts'
import type { AppParts } from '../app-parts.ts'
import { styledLine } from '../term/styled-line.ts'
import type { MenuItem } from '../ui-state.ts'
import { showMemory } from './show-commands.ts'

/** `/memory [show | add <fact> | remove <number>]` */
export function manageMemory(app: AppParts, words: string): void {
  const { ui } = app
  const { verb = '', rest = '' } = /^(?<verb>\S*)\s*(?<rest>[^]*)$/.exec(words.trim())?.groups ?? {}
  switch (verb) {
    case '':
    case 'show':
    case 'list':
      showMemory(app)
      return showNumbers(app)
    case 'add': {
      const fact = toMemoryLine(rest)
      if (fact === '') return ui.notify('What should be remembered? Use /memory add <fact>.', 'warn')
      updatePrivateFile(getMemoryFilePath(), () => addMemory(readMemoryFile(), fact))
      return ui.notify(`Remembered for later sessions: ${escapeForTerminal(fact)}`)
    }
    case 'remove':
      return removeFact(app, rest.trim())
    default:
      return ui.notify('Use /memory, /memory add <fact> or /memory remove <number>.', 'warn')
  }
}

export function listMemoryChoices(): MenuItem[] {
  return [
    { value: 'show', about: 'show the instruction files and memories' },
    { value: 'add', about: 'remember a fact for later sessions' },
    { value: 'remove', about: 'forget a fact, by its number' },
  ]
}

function showNumbers({ ui }: AppParts): void {
  const facts = listMemories(readMemoryFile())
  if (facts.length === 0) return
  ui.print([[], ...facts.map((fact, at) => styledLine(`${String(at + 1).padStart(4)}  ${escapeForTerminal(fact)}`))])
  ui.notify('/memory remove <number> forgets one of these.')
}

function removeFact({ ui }: AppParts, word: string): void {
  const facts = listMemories(readMemoryFile())
  const fact = /^\d+$/.test(word) ? facts[Number(word) - 1] : facts.find((one) => one === word)
  if (fact === undefined)
    return ui.notify(facts.length === 0 ? 'There are no memories.' : `There is no memory ${word}; see /memory.`, 'warn')
  updatePrivateFile(getMemoryFilePath(), () => removeMemory(readMemoryFile(), fact))
  ui.notify(`Forgotten: ${escapeForTerminal(fact)}`)
}

function readMemoryFile(): string {
  const content = readRegularFile(getMemoryFilePath(), { maxBytes: 2 ** 22 })
  if ('bytes' in content && !content.isCut) return content.bytes.toString('utf8')
  if ('problem' in content && content.problem === 'missing') return ''
  // Otherwise what is in it would be lost.
  throw new Error(`${getMemoryFilePath()} cannot be read`)
}
