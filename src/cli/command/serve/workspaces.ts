import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { createFolderReader, type FolderReader } from '../../../host/files/folder-reader.ts'
import { getHomeFolder } from '../../../host/files/user-folders.ts'
import { checkOutRepository, removeCheckout } from '../../../host/process/git-checkout.ts'
import { defined } from '../../../model/defined.ts'
import type { SessionContext } from '../../../server/worker/agent-source.ts'

/** The folders of the sessions on this machine. */
export interface Workspaces {
  readonly root: string
  /** The folder of a session, if it has one; it is checked out if it is not there. */
  open(session: SessionContext, signal: AbortSignal): Promise<string | undefined>
  findFiles(tenant: string, session: string): FolderReader | undefined
  remove(tenant: string, session: string): Promise<void>
}

/** `labelled` is the folder of sessions that have the label of this worker. */
export function createWorkspaces(label: string | undefined, labelled: string): Workspaces {
  const root = join(getStateFolder(), 'workspaces')
  const pathOf = (tenant: string, session: string): string => join(root, tenant, session)
  return {
    root,
    async open({ tenant, session, settings }, signal) {
      if (settings.workspace) {
        const folder = pathOf(tenant, session)
        const { git: url, ref } = settings.workspace
        await checkOutRepository({ url, ...defined({ ref }), folder, signal })
        return folder
      }
      return settings.label !== undefined && settings.label === label ? labelled : undefined
    },
    findFiles(tenant, session) {
      const folder = pathOf(tenant, session)
      return existsSync(folder) ? createFolderReader(folder) : undefined
    },
    remove(tenant, session) {
      removeCheckout(pathOf(tenant, session))
      return Promise.resolve()
    },
  }
}

/** Not one of our private folders: those are hidden from the commands of the model. */
function getStateFolder(): string {
  const configured = process.env['XDG_STATE_HOME'] ?? ''
  return join(isAbsolute(configured) ? configured : join(getHomeFolder(), '.local/state'), 'dragoman')
}
