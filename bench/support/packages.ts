import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Two published versions of a package. */
export type PackageVersions = readonly [name: string, from: string, to: string]

/** The text files that both versions have, by name; nothing where the registry cannot be reached. */
export async function loadBothVersions([name, from, to]: PackageVersions): Promise<
  Map<string, [string, string]> | undefined
> {
  const [before, after] = [await unpackVersion(name, from), await unpackVersion(name, to)]
  if (before === undefined || after === undefined) return undefined
  const both = new Map<string, [string, string]>()
  for (const path of filesIn(before)) {
    if (!TEXT_FILE_PATTERN.test(path) || !existsSync(join(after, path))) continue
    const texts: [string, string] = [readFileSync(join(before, path), 'utf8'), readFileSync(join(after, path), 'utf8')]
    if (texts[0] !== texts[1]) both.set(`${name}/${path}`, texts)
  }
  return both
}

const TEXT_FILE_PATTERN =
  /\.(?:[cm]?[jt]sx?|json|css|s[ac]ss|less|md|ya?ml|py|gypi?|c|cc|cpp|h|hpp|html|vue|sh|rs|go|toml|txt|xml)$/

/** Where a version of a package was unpacked to. It is fetched once, and kept in the system's folder for temporary files. */
async function unpackVersion(name: string, version: string): Promise<string | undefined> {
  const cache = join(tmpdir(), 'dragoman-bench-packages')
  const folder = join(cache, `${name.replaceAll('/', '+')}@${version}`)
  if (existsSync(folder)) return folder
  const work = `${folder}.${process.pid}`
  mkdirSync(work, { recursive: true })
  try {
    await run('npm', ['pack', `${name}@${version}`, '--silent', '--ignore-scripts', '--pack-destination', work])
    const [archive = ''] = readdirSync(work)
    await run('tar', ['-xzf', join(work, archive), '-C', work, '--strip-components=1', '--no-same-permissions'])
    rmSync(join(work, archive))
    renameSync(work, folder)
    return folder
  } catch (error) {
    rmSync(work, { recursive: true, force: true })
    process.stderr.write(`${name}@${version} cannot be fetched: ${error instanceof Error ? error.message : ''}\n`)
    return undefined
  }
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return paths.map((path) => path.slice(folder.length + 1)).sort()
}
