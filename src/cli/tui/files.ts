import { spawn } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { stopWhenStuck } from '../../host/stuck.ts'

/** The files of a project, for completion. */
export interface ProjectFiles {
  readonly known: readonly string[]
  /** Lists them anew, unless that is being done, and not too often; gives whether the list is another one now. */
  load(): Promise<boolean>
}

/** So many milliseconds at least are between two lists. */
const PAUSE_MS = 1000

/** More files than this are not offered; a person can still name them. */
const MOST = 50_000

/** Lists the files that git does not ignore, in the background. */
export function projectFiles(folder: string): ProjectFiles {
  let known: readonly string[] = []
  let loading = false
  let loaded = -Infinity

  async function list(): Promise<readonly string[]> {
    const { rgPath } = await import('@vscode/ripgrep')
    const child = spawn(rgPath, ['--files', '--hidden', '--glob', '!.git', '--sort', 'none'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const stuck = stopWhenStuck(child.pid, () => child.kill('SIGKILL'))
    const files: string[] = []
    let rest = ''
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (text: string) => {
      const rows = (rest + text).split('\n')
      rest = rows.pop() ?? ''
      files.push(...rows)
      if (files.length > MOST) child.kill()
    })
    await new Promise<void>((resolve) => {
      child.on('close', () => resolve())
      child.on('error', () => resolve())
    })
    stuck.close()
    return withFolders(files.slice(0, MOST))
  }

  return {
    get known() {
      return known
    },
    async load() {
      if (loading) return false
      loading = true
      await wait(Math.max(loaded + PAUSE_MS - performance.now(), 0), undefined, { ref: false })
      const former = new Set(known)
      known = await list()
      loading = false
      loaded = performance.now()
      return known.length !== former.size || known.some((path) => !former.has(path))
    },
  }
}

function withFolders(files: readonly string[]): string[] {
  const folders = new Set(
    files.flatMap((file) => (file.includes('/') ? [`${file.slice(0, file.lastIndexOf('/'))}/`] : [])),
  )
  return [...files, ...folders]
}
