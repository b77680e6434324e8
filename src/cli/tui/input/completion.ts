import type { EditorState } from './text-editor.ts'
import { formatMention } from '../mention/mentions.ts'
import type { CompletionMenu, MenuItem } from '../ui-state.ts'

/** Where completions come from: commands at the beginning of the text, files after an @. */
export interface CompletionSources {
  readonly commands: () => readonly MenuItem[]
  /** The files of the project, and the resources of MCP servers; `typed` is what follows the @ so far. */
  readonly files: (typed: string) => readonly string[]
  /** The choices for the argument of a command, if they are loaded. */
  readonly commandArguments: (command: string) => ArgumentChoices | undefined
}

export interface ArgumentChoices {
  readonly items: readonly MenuItem[]
  /** The argument may also be something else, so Enter submits it as typed. */
  readonly allowsOthers?: true
}

const MAX_MENU_ITEMS = 50

export function findCompletions({ text, cursor }: EditorState, sources: CompletionSources): CompletionMenu | undefined {
  const before = text.slice(0, cursor)
  const command = /^\/[\w:-]*$/.exec(before)
  if (command) return createMenu(filterCommands(sources.commands(), command[0]), 'submit', 0, cursor)
  const { name, word } = /^\/(?<name>[\w:-]+) (?<word>[^\n]*)$/.exec(before)?.groups ?? {}
  const words = name === undefined ? undefined : sources.commandArguments(name)
  if (words && word !== undefined) {
    const enterAction = words.allowsOthers ? 'submit-typed' : 'submit'
    return createMenu(filterArguments(words.items, word), enterAction, cursor - word.length, cursor)
  }
  const file = /(?:^|\s)@(?<path>"[^"\n]*|[^\s@"]*)$/.exec(before)
  const path = file?.groups?.['path']
  if (path === undefined) return undefined
  const found = rankPaths(sources.files(path), path.replace(/^"/, '')).map((value) => ({ value: formatMention(value) }))
  return createMenu(found, 'insert', cursor - path.length - 1, cursor)
}

function createMenu(
  items: readonly MenuItem[],
  enterAction: CompletionMenu['enterAction'],
  from: number,
  to: number,
): CompletionMenu | undefined {
  return items.length === 0 ? undefined : { items: items.slice(0, MAX_MENU_ITEMS), selected: 0, from, to, enterAction }
}

function filterArguments(items: readonly MenuItem[], word: string): readonly MenuItem[] {
  if (word === '') return items
  // After a first word that is complete, its choices keep their order.
  if (word.endsWith(' ')) return items.filter(({ value }) => value.startsWith(word))
  const byValue = new Map(items.map((item) => [item.value, item]))
  const ranked = rankPaths([...byValue.keys()], word).flatMap((value) => byValue.get(value) ?? [])
  // Sessions and messages are found by their words, too.
  const words = word.toLowerCase().split(/\s+/).filter(Boolean)
  const isFound = ({ value, about = '' }: MenuItem): boolean =>
    words.every((one) => `${value} ${about}`.toLowerCase().includes(one))
  return [...ranked, ...items.filter((item) => !ranked.includes(item) && isFound(item))]
}

function filterCommands(items: readonly MenuItem[], word: string): MenuItem[] {
  // An exact match comes first: /mode before /model. An alias is offered if the name does not match.
  const prefixMatches = items
    .flatMap((item): MenuItem[] => {
      if (item.value.startsWith(word)) return [item]
      const alias = item.aliases?.find((one) => one.startsWith(word))
      return alias === undefined ? [] : [{ ...item, value: alias }]
    })
    .sort((a, b) => Number(b.value === word) - Number(a.value === word))
  const substringMatches = items.filter(
    ({ value, aliases = [] }) =>
      ![value, ...aliases].some((one) => one.startsWith(word)) && value.includes(word.slice(1)),
  )
  return [...prefixMatches, ...substringMatches]
}

/** The paths that contain the letters in this order; best are whole words, matches in the file name, and short paths. */
function rankPaths(paths: readonly string[], query: string): string[] {
  const letters = query.toLowerCase()
  let best: RankedPath[] = []
  let worst: RankedPath | undefined
  for (const path of paths) {
    const score = scorePath(path.toLowerCase(), letters)
    if (score === undefined) continue
    const ranked = { path, score }
    if (worst && compareRanks(ranked, worst) > 0) continue
    best.push(ranked)
    // There may be very many paths, and few are shown: they need not all be sorted.
    if (best.length < MAX_MENU_ITEMS * 10) continue
    best = best.sort(compareRanks).slice(0, MAX_MENU_ITEMS)
    worst = best.at(-1)
  }
  return best
    .sort(compareRanks)
    .slice(0, MAX_MENU_ITEMS)
    .map(({ path }) => path)
}

interface RankedPath {
  readonly path: string
  readonly score: number
}

function compareRanks(one: RankedPath, other: RankedPath): number {
  return other.score - one.score || one.path.length - other.path.length || (one.path < other.path ? -1 : 1)
}

function scorePath(path: string, letters: string): number | undefined {
  if (letters === '') return -path.split('/').length
  const name = path.lastIndexOf('/', path.length - 2) + 1
  const nameMatch = path.indexOf(letters, name)
  if (nameMatch >= 0) return 1000 - (nameMatch - name)
  const pathMatch = path.indexOf(letters)
  if (pathMatch >= 0) return 500 - pathMatch / 10
  let score = 0
  let at = -1
  for (const letter of letters) {
    const next = path.indexOf(letter, at + 1)
    if (next < 0) return undefined
    // Consecutive letters and beginnings of words count more.
    score += next === at + 1 ? 5 : /[/_.-]/.test(path[next - 1] ?? '/') ? 4 : 0
    at = next
  }
  return score
}
