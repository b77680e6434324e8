import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { createFolderReader, type FolderReader } from '../../../host/files/folder-reader.ts'
import { getHomeFolder } from '../../../host/files/user-folders.ts'
import { localHost } from '../../../host/local-host.ts'
import { checkOutRepository } from '../../../host/process/git-checkout.ts'
import { defined } from '../../../model/defined.ts'
import { tryOrUndefined } from '../../../model/try-or-undefined.ts'
import type { SessionContext } from '../../../server/worker/agent-source.ts'
import type { Settings } from '../../config/read-settings.ts'
import { requireSandbox, toSandboxOptions } from '../../setup/sandbox-options.ts'

/** The folders of the sessions on this machine. */
export interface Workspaces {
  readonly root: string
  /** The folder of a session, if it has one; it is checked out if it is not there. */
  open(session: SessionContext, signal: AbortSignal): Promise<string | undefined>
  findFiles(tenant: string, session: string): FolderReader | undefined
  remove(tenant: string, session: string): Promise<void>
}

interface WorkspacesOptions {
  /** The label of this worker, if it has one; sessions with it work in `folder`. */
  readonly label: string | undefined
  readonly folder: string
  readonly settings: Settings
}

/** Each session has a folder with its files, and beside them where they came from. */
export function createWorkspaces({ label, folder: labelled, settings }: WorkspacesOptions): Workspaces {
  const root = join(getStateFolder(), 'workspaces')
  const pathOf = (tenant: string, session: string): string => join(root, tenant, session)

  async function checkOut(place: string, url: string, ref: string | undefined, signal: AbortSignal): Promise<void> {
    const [folder, scratch] = [join(place, 'empty'), join(place, 'scratch')]
    for (const one of [folder, scratch]) mkdirSync(one, { recursive: true, mode: 0o700 })
    const { sandbox, ...limits } = toSandboxOptions({}, settings, folder)
    const host = localHost({ folders: [folder], scratch, ...limits, sandbox: { ...sandbox, emptyFolders: [root] } })
    try {
      await requireSandbox({}, settings, host)
      const { stdioProcesses } = host
      const checkoutHost = { stdioProcesses, sandbox: () => host.sandbox(), folder, scratch }
      await checkOutRepository({ url, ...defined({ ref }), folder: join(place, FILES), host: checkoutHost, signal })
    } finally {
      host.close()
      for (const one of [folder, scratch]) rmSync(one, { recursive: true, force: true })
    }
  }

  return {
    root,
    async open({ tenant, session, settings: { workspace, label: wanted }, created = 0 }, signal) {
      if (!workspace) return wanted !== undefined && wanted === label ? labelled : undefined
      const place = pathOf(tenant, session)
      const files = join(place, FILES)
      // A session that was removed may have had the same name.
      const origin = JSON.stringify({ ...workspace, created })
      if (existsSync(files) && readOrigin(place) === origin) return files
      rmSync(place, { recursive: true, force: true })
      mkdirSync(place, { recursive: true, mode: 0o700 })
      writeFileSync(join(place, ORIGIN), origin, { mode: 0o600 })
      await checkOut(place, workspace.git, workspace.ref, signal)
      return files
    },
    findFiles(tenant, session) {
      const files = join(pathOf(tenant, session), FILES)
      return existsSync(files) ? createFolderReader(files) : undefined
    },
    remove(tenant, session) {
      rmSync(pathOf(tenant, session), { recursive: true, force: true })
      return Promise.resolve()
    },
  }
}

const FILES = 'files'
const ORIGIN = 'origin.json'

function readOrigin(place: string): string | undefined {
  return tryOrUndefined(() => readFileSync(join(place, ORIGIN), 'utf8'))
}

/** Not one of our private folders: those are hidden from the commands of the model. */
export function getStateFolder(): string {
  const configured = process.env['XDG_STATE_HOME'] ?? ''
  return join(isAbsolute(configured) ? configured : join(getHomeFolder(), '.local/state'), 'dragoman')
}
