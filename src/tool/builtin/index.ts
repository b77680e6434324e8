import { secretTest } from '../../policy/path/secret.ts'
import type { Tool } from '../define.ts'
import type { SelfCorrect } from '../edit/self-correct.ts'
import { searchService, type SearchOptions } from '../web/search-service.ts'
import type { SideModel } from '../web/side-model.ts'
import { SEARCH } from '../mcp/deferred.ts'
import { exitPlanMode } from './exit-plan-mode.ts'
import { glob } from './glob.ts'
import { googleWebSearch } from './google-web-search.ts'
import { listDirectory } from './list-directory.ts'
import { readFile } from './read-file.ts'
import { readManyFiles } from './read-many-files.ts'
import { replace } from './replace.ts'
import { runShellCommand, type ShellOptions } from './run-shell-command.ts'
import { saveMemory } from './save-memory.ts'
import { searchFileContent } from './search-file-content.ts'
import { smartEdit } from './smart-edit.ts'
import { webFetch } from './web-fetch.ts'
import { writeFile } from './write-file.ts'

/** What the built-in tools need to know. */
export interface BuiltinOptions {
  /** The file that save_memory writes; the host must allow it. Without it there is no such tool. */
  readonly memory?: string
  readonly shell?: ShellOptions
  /** Patterns of files that hold secrets, beside the usual ones: no search and no glob opens them, only their own name. */
  readonly secretFiles?: readonly string[]
  /** What the web tools may ask. Without it there are none; without a searching vendor or a service, no search. */
  readonly web?: WebToolOptions
  /** The model may put a plan to the person. */
  readonly plan?: boolean
  /** Puts the search text of an edit right that does not fit; without it such an edit is refused. */
  readonly selfCorrect?: SelfCorrect
}

/** The model that answers questions about pages, and the service that searches where its vendor does not. */
export interface WebToolOptions {
  readonly model?: SideModel
  readonly search?: SearchOptions
}

/** Addresses in these may hold keys. Whoever names the file is asked about it if so. */
const REPOSITORY_SETTINGS = ['.git/**/config', '.git/**/config.worktree', '.gitmodules']

/** The built-in tools, always in the same order. */
export function builtinTools(options: BuiltinOptions = {}): readonly Tool[] {
  const { memory, shell, web, secretFiles, selfCorrect, plan } = options
  const isSecret = secretTest([...REPOSITORY_SETTINGS, ...(secretFiles ?? [])])
  return [
    listDirectory,
    readFile,
    searchFileContent(isSecret),
    glob,
    smartEdit(selfCorrect),
    replace,
    writeFile,
    readManyFiles(isSecret),
    runShellCommand(shell),
    ...(web === undefined ? [] : webTools(web)),
    ...(memory === undefined ? [] : [saveMemory(memory)]),
    ...(plan ? [exitPlanMode()] : []),
  ]
}

/** The names of all our tools, also of those that are not there now: no server's tool can have one of them. */
export function builtinNames(): readonly string[] {
  const nobody: SideModel = { can: [], ask: () => Promise.resolve({ problem: '' }) }
  const all = [...builtinTools({ memory: '', plan: true }), webFetch(), googleWebSearch({ model: nobody })]
  return [...all.map(({ spec }) => spec.name), SEARCH]
}

function webTools({ model, search }: WebToolOptions): readonly Tool[] {
  if (model?.can.includes('google_search')) return [webFetch(model), googleWebSearch({ model })]
  const service = search && searchService(search)
  return [webFetch(model), ...(service && !('problem' in service) ? [googleWebSearch({ service })] : [])]
}
