import { spawn } from 'node:child_process'

/** The files of a project, for completion. */
export interface ProjectFiles {
  readonly known: readonly string[]
  load(): Promise<void>
}

/** More files than this are not offered; a person can still name them. */
const MOST = 50_000

/** Lists the files that git does not ignore, in the background. */
export function projectFiles(folder: string): ProjectFiles {
  let known: readonly string[] = []
  return {
    get known() {
      return known
    },
    async load() {
      const { rgPath } = await import('@vscode/ripgrep')
      const child = spawn(rgPath, ['--files', '--hidden', '--glob', '!.git', '--sort', 'none'], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
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
      known = withFolders(files.slice(0, MOST))
    },
  }
}

function withFolders(files: readonly string[]): string[] {
  const folders = new Set(
    files.flatMap((file) => (file.includes('/') ? [`${file.slice(0, file.lastIndexOf('/'))}/`] : [])),
  )
  return [...files, ...folders]
}
