import { spawn } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { stopWhenStuck } from '../../../host/search/stop-when-stuck.ts'

const MIN_REFRESH_INTERVAL_MS = 1000

/** More files are not offered; they can still be typed. */
const MAX_FILES = 50_000

/** The files of a project that git does not ignore, for completion. They are listed in the background, with ripgrep. */
export function createProjectFiles(folder: string) {
  let paths: readonly string[] = []
  let isLoading = false
  let lastLoadedAt = -Infinity

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
      if (files.length > MAX_FILES) child.kill()
    })
    await new Promise<void>((resolve) => {
      child.on('close', () => resolve())
      child.on('error', () => resolve())
    })
    stuck.close()
    return addFolders(files.slice(0, MAX_FILES))
  }

  return {
    get paths() {
      return paths
    },
    /** Lists them again, unless that is being done, and at most once a second; returns whether the list has changed. */
    async refresh(): Promise<boolean> {
      if (isLoading) return false
      isLoading = true
      await wait(Math.max(lastLoadedAt + MIN_REFRESH_INTERVAL_MS - performance.now(), 0), undefined, { ref: false })
      const previousPaths = new Set(paths)
      paths = await list()
      isLoading = false
      lastLoadedAt = performance.now()
      return paths.length !== previousPaths.size || paths.some((path) => !previousPaths.has(path))
    },
  }
}

function addFolders(files: readonly string[]): string[] {
  const folders = new Set(
    files.flatMap((file) => (file.includes('/') ? [`${file.slice(0, file.lastIndexOf('/'))}/`] : [])),
  )
  return [...files, ...folders]
}
