import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findCompletions } from '../../src/cli/tui/input/completion.ts'
import { createProjectFiles } from '../../src/cli/tui/mention/project-files.ts'
import { localHost } from '../../src/host/local-host.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { builtinTools } from '../../src/tool/builtin/index.ts'
import { createToolbox } from '../../src/tool/toolbox.ts'
import type { GrowthCase } from '../support/growth.ts'

const FILES = [12_500, 50_000, 200_000] as const
const FILES_EACH = 25

/** A workspace with many files: completion, and the tools that look for files. */
export function listWorkspaceCases(): GrowthCase[] {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'dragoman-growth-')))
  process.on('exit', () => rmSync(base, { recursive: true, force: true }))
  const isMade = new Set<string>()
  /** The larger trees contain the smaller ones. */
  const makeTree = (count: number): string => {
    const tree = FILES.filter((size) => size >= count)
      .toReversed()
      .reduce((parent, size) => join(parent, `tree-${size}`), base)
    if (!isMade.has(tree)) makeFiles(join(tree, 'own'), count - (FILES.findLast((size) => size < count) ?? 0))
    isMade.add(tree)
    return tree
  }
  const toolCase = (name: string, input: JsonObject): GrowthCase => ({
    label: `${name} in a workspace of so many files`,
    sizes: FILES,
    rounds: 2,
    isWallTime: true,
    prepare(count) {
      const run = createToolRunner(makeTree(count))
      return () => run(name, input)
    },
  })
  const completionCase = (label: string, keys: readonly string[]): GrowthCase => ({
    label,
    sizes: FILES,
    async prepare(count) {
      const files = createProjectFiles(makeTree(count))
      await files.refresh()
      const none = () => []
      const sources = { commands: none, files: () => files.paths, commandArguments: () => undefined }
      return () => keys.map((text) => findCompletions({ text, cursor: text.length } as never, sources))
    },
  })
  return [
    {
      label: 'listing the files for completion, in a workspace of so many',
      sizes: FILES,
      rounds: 2,
      isWallTime: true,
      prepare: (count) => {
        const tree = makeTree(count)
        return () => createProjectFiles(tree).refresh()
      },
    },
    completionCase('the key @ in a workspace of so many files', ['@']),
    completionCase('the 15 keys of @package-3/file in a workspace of so many files', listKeys('@package-3/file')),
    toolCase('glob', { pattern: '**/*.md' }),
    toolCase('search_file_content', { pattern: 'needle' }),
  ]
}

function listKeys(text: string): string[] {
  return Array.from(text, (_, at) => text.slice(0, at + 1))
}

function makeFiles(folder: string, count: number): void {
  for (let at = 0; at < count; at++) {
    const path = join(folder, `area-${Math.floor(at / 2500)}`, `package-${Math.floor(at / FILES_EACH) % 100}`)
    if (at % FILES_EACH === 0) mkdirSync(path, { recursive: true })
    const name = `file-${at % FILES_EACH}.${at % FILES_EACH === 0 ? 'md' : 'ts'}`
    writeFileSync(join(path, name), at % 1000 === 0 ? 'a needle\n' : 'a line of thread\n')
  }
}

function createToolRunner(folder: string): (name: string, input: JsonObject) => Promise<void> {
  const host = localHost({ folders: [folder], scratch: `${folder}-scratch` })
  const box = createToolbox(builtinTools({ memory: `${folder}-memory` }))
  const seenFiles = { setHash: () => undefined, getHash: () => undefined }
  const { signal } = new AbortController()
  const context = { host, folders: [folder], signal, progress: () => undefined, seenFiles }
  return async (name, input) => {
    const found = box.find(name)
    const output = 'tool' in found ? await found.tool.run(input, context) : undefined
    if (!output || output.error) throw new Error(output?.error?.message ?? `there is no tool ${name}`)
  }
}
