import { lstatSync, statSync } from 'node:fs'
import { extname, join, relative, resolve } from 'node:path'
import { readRegularFile } from '../../host/files/regular-file.ts'
import { isObject, tryParseJson } from '../../model/json.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import { removeComments } from './remove-comments.ts'

/**
 * What the settings, servers or hooks of a project name a file for. `written`: only as the target of a redirection or of `tee`.
 * `argument`: only after the script of a hook, which may write it. One mention of another kind, or a name or mode of a program, is
 * enough for `started`.
 */
export type NamedFileUse = 'started' | 'argument' | 'written'

/** The files of a folder that the strings of a JSON text name, or only its hooks. A text that cannot be parsed is one string. */
export function findNamedFiles(folder: string, json: string, isHooksOnly = false): Map<string, NamedFileUse> {
  const found = new Map<string, NamedFileUse>()
  const kinds = new Map<string, 'file' | 'folder' | undefined>()
  const locate = (word: string, bases: readonly string[], kind: 'file' | 'folder'): string[] => {
    if (word === '' || word.length > MAX_PATH_CHARS) return []
    // What a variable or a command stands for may be the folder: `$PWD/x.sh`, `$(pwd)/x.sh`.
    const readings = new Set([word, word.replace(/^\/+/, ''), word.replace(/^[^/]*\$[^/]*\/+/, '')])
    const paths = [...readings].flatMap((one) => bases.map((base) => relative(folder, resolve(folder, base, one))))
    return paths.filter((path) => {
      if (path === '' || path.startsWith('..')) return false
      if (!kinds.has(path)) kinds.set(path, findPathKind(join(folder, path)))
      return kinds.get(path) === kind
    })
  }

  const readCommands = (text: string, isHook: boolean): void => {
    const bases = ['']
    const add = (word: string, use: NamedFileUse): void => {
      for (const path of locate(word, bases, 'file')) found.set(path, chooseCareful(use, found.get(path)))
    }
    const commands = splitCommands(normalize(text))
    if (!commands) {
      const words = [text, normalize(text).replaceAll(QUOTES, '')].flatMap((one) => one.split(NAME_ENDS))
      for (const word of new Set(words)) add(word, 'started')
      return
    }
    for (const tokens of commands) {
      const names = tokens.map((token) => token.replaceAll(QUOTES, ''))
      const scriptAt = isHook ? findScript(names, (name) => locate(name, bases, 'file').length > 0) : -1
      for (const [at, token] of tokens.entries()) {
        const name = names[at] ?? ''
        const before = tokens[at - 1] ?? ''
        const isOutput = before === '>' || before === '>>' || (names[0] === 'tee' && at > 0 && before !== '<')
        const use = isOutput ? 'written' : scriptAt !== -1 && at > scriptAt && before !== '<' ? 'argument' : 'started'
        add(name, use)
        const inner = /\s/.test(name) ? unquote(token) : undefined
        if (inner !== undefined) readCommands(inner, false)
        const partUse = /[$`<>;|&()\s]/.test(token) ? 'started' : use
        if (inner === undefined) for (const part of token.split(NAME_ENDS)) if (part !== name) add(part, partUse)
      }
      if (names[0] === 'cd' || names[0] === 'pushd') bases.push(...locate(names[1] ?? '', bases, 'folder'))
    }
  }

  const strings = tryOrUndefined(() => {
    const texts = new Map<string, boolean>()
    for (const { text, isHook } of listStrings(tryParseJson(json) ?? JSON.parse(removeComments(json)), false))
      if (isHook || !isHooksOnly) texts.set(text, isHook && texts.get(text) !== false)
    return texts
  })
  for (const [text, isHook] of strings ?? [[json, false] as const]) readCommands(text, isHook)
  for (const [path, use] of found)
    if (isDatabase(join(folder, path))) found.set(path, 'written')
    else if (use !== 'started' && !isDataFile(join(folder, path))) found.set(path, 'started')
  return found
}

/** A regular file that has neither the name, nor the mode, nor the first line of a program. */
export function isDataFile(path: string): boolean {
  const info = lstatSync(path, { throwIfNoEntry: false })
  if (!info?.isFile() || (info.mode & 0o111) !== 0 || !DATA_EXTENSIONS.has(extname(path).toLowerCase())) return false
  return readStart(path, 2) !== '#!'
}

/** No interpreter reads a database as a program, whatever it is called: its first line has a zero byte. */
function isDatabase(path: string): boolean {
  return readStart(path, 16) === 'SQLite format 3\0'
}

function readStart(path: string, maxBytes: number): string {
  const content = readRegularFile(path, { maxBytes })
  return 'bytes' in content ? content.bytes.toString('latin1') : ''
}

const DATA_EXTENSIONS: ReadonlySet<string> = new Set(
  '  .log .txt .json .jsonl .ndjson .csv .tsv .out .err .pid .lock .state .cache .tmp .db .sqlite .sqlite3'.split(' '),
)
const MAX_PATH_CHARS = 1000
const MAX_COMMAND_CHARS = 20_000

/** Of two uses of a file, the one that allows less. */
export function chooseCareful(one: NamedFileUse, other: NamedFileUse = 'written'): NamedFileUse {
  return one === 'started' || other === 'started' ? 'started' : one === 'argument' ? one : other
}

const NAME_ENDS = /[\s"'`,;:()=<>|&\\]+/
const QUOTES = /\\(?=.)|["']/g

/** What a word of one quoted text contains: it may be commands. */
function unquote(token: string): string | undefined {
  if (/^'[^']*'$/.test(token)) return token.slice(1, -1)
  return /^"(?:[^"\\]|\\[^])*"$/.test(token) ? token.slice(1, -1).replaceAll(/\\(["\\$`])/g, '$1') : undefined
}

/** Names of the project's folder become `.`; redirections that write have one of the forms `>` and `>>`. */
function normalize(text: string): string {
  return text
    .replaceAll(/\$(?:\{(?:CLAUDE|GEMINI|DRAGOMAN)_PROJECT_DIR[^}]*\}|(?:CLAUDE|GEMINI|DRAGOMAN)_PROJECT_DIR\b)/g, '.')
    .replaceAll(/[<>]&(?:\d+|-)(?=[\s;|&)]|$)/g, ' ')
    .replaceAll(/&>>?|>&|>\|/g, ' > ')
}

/** The words and redirections of each command; undefined: the text has forms that are not understood here. */
function splitCommands(text: string): string[][] | undefined {
  if (text.length > MAX_COMMAND_CHARS || NOT_UNDERSTOOD.test(text)) return undefined
  const tokens = [...text.matchAll(TOKEN)].map(([token]) => token)
  // What is left over is a quote without an end.
  if (/\S/.test(text.replaceAll(TOKEN, ''))) return undefined
  const commands: string[][] = [[]]
  for (const token of tokens)
    if (COMMAND_END.test(token)) commands.push([])
    else commands.at(-1)?.push(token)
  return commands
}

/** Comments, documents in the text, functions and aliases. */
const NOT_UNDERSTOOD = /(?:^|\s)#|<<|\(\s*\)|\b(?:function|alias)\b/
const TOKEN = /[<>]+|[;|&\n()`]+|(?:"(?:[^"\\]+|\\[^])*"|'[^']*'|\\[^]|[^\s<>;|&()`"'\\]+)+/g
const COMMAND_END = /^[;|&\n()`]/

/** The place of a script that a command starts, by itself or as the first word of its interpreter; -1: no script of the project. */
function findScript(names: readonly string[], isFile: (name: string) => boolean): number {
  const start = names.findIndex((name) => !/^\w+=/.test(name))
  const line = names.slice(start).join(' ')
  const [interpreter = ''] = INTERPRETER.exec(line) ?? []
  const at = start + (interpreter === '' ? 0 : interpreter.trim().split(' ').length)
  return start !== -1 && isFile(names[at] ?? '') ? at : -1
}

const INTERPRETER = /^(?:(?:node|bun|python3?|bash|sh|zsh|ruby|perl|php|tsx)|uv run|npx tsx|deno run) /

function findPathKind(path: string): 'file' | 'folder' | undefined {
  const info = tryOrUndefined(() => statSync(path))
  return info?.isFile() ? 'file' : info?.isDirectory() ? 'folder' : undefined
}

function listStrings(value: unknown, isHook: boolean): { readonly text: string; readonly isHook: boolean }[] {
  if (typeof value === 'string') return [{ text: value, isHook }]
  if (Array.isArray(value)) return value.flatMap((item) => listStrings(item, isHook))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, item]) => listStrings(item, isHook || key === 'hooks'))
}
