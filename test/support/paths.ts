import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository, wherever the test was bundled to and started from: fixtures are read relative to it. */
export const root = findRoot()

/** A folder of reference material beside the repository. Not everybody has it. */
export const shared = resolve(process.env['DRAGOMAN_SHARED'] ?? join(root, '../shared'))

/** Is that folder there? */
export const hasShared = existsSync(shared)

/** The `skip` option of a test that reads it: `test('…', { skip: skipWithoutShared }, …)`. */
export const skipWithoutShared: false | string = hasShared ? false : 'the folder ../shared is absent'

function findRoot(): string {
  const start = dirname(fileURLToPath(import.meta.url))
  for (let folder = start; ; folder = dirname(folder)) {
    if (isRoot(folder)) return folder
    if (folder === dirname(folder)) throw new Error(`no package.json named dragoman above ${start}`)
  }
}

function isRoot(folder: string): boolean {
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest)) return false
  const { name } = JSON.parse(readFileSync(manifest, 'utf8')) as { name?: unknown }
  return name === 'dragoman'
}
