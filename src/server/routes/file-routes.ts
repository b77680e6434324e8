import { ApiError } from '../http/api-error.ts'
import { type ApiRequest, getSessionKey, type Route } from '../http/route.ts'
import { listOf, objectOf, ref } from '../http/schemas.ts'
import type { FolderEntry, FolderReader } from '../../host/files/folder-reader.ts'
import { toJson } from './session-routes.ts'

/** The files of a session's workspace, if they are on this machine. */
export type FindWorkspaceFiles = (tenant: string, session: string) => FolderReader | undefined

const PATH = {
  path: {
    description: 'Relative to the workspace; the default is the workspace itself.',
    schema: { type: 'string', maxLength: 4096 },
  },
} as const

export function createFileRoutes(findFiles: FindWorkspaceFiles): readonly Route[] {
  /** The session must exist: a folder that is left over is nobody's. */
  async function openFiles(request: ApiRequest): Promise<FolderReader> {
    const { tenant, session } = getSessionKey(request)
    await request.service.get({ tenant, session })
    const files = findFiles(tenant, session)
    if (!files) throw new ApiError('not-found', 'The session has no workspace on this server.')
    return files
  }

  return [
    {
      method: 'GET',
      path: '/v1/sessions/{session}/blobs/{hash}',
      operation: 'getBlob',
      summary: 'An image or another file that an entry of the session refers to by its hash.',
      scope: 'read',
      responses: { 200: { description: 'Its content.', type: 'application/octet-stream' } },
      async handle(request) {
        const { service, params, tenant } = request
        await service.get(getSessionKey(request))
        const bytes = await service.backend.getStore(tenant).getBlob(params['hash'] ?? '')
        if (!bytes) throw new ApiError('not-found', 'There is no such blob.')
        return { status: 200, bytes, headers: FILE_HEADERS }
      },
    },
    {
      method: 'GET',
      path: '/v1/sessions/{session}/files',
      operation: 'listFiles',
      summary: 'The files in a folder of the workspace.',
      scope: 'read',
      query: PATH,
      responses: { 200: { description: 'The files.', schema: objectOf({ files: listOf(ref('File')) }) } },
      async handle(request) {
        const files = await openFiles(request)
        const list = files.list(request.query.get('path') ?? '')
        if (!list) throw new ApiError('not-found', 'There is no such folder in the workspace.')
        return { status: 200, body: { files: list.map((one: FolderEntry) => toJson(one)) } }
      },
    },
    {
      method: 'GET',
      path: '/v1/sessions/{session}/files/content',
      operation: 'readFile',
      summary: 'The content of a file of the workspace.',
      scope: 'read',
      query: PATH,
      responses: { 200: { description: 'Its content.', type: 'application/octet-stream' } },
      async handle(request) {
        const files = await openFiles(request)
        const content = files.read(request.query.get('path') ?? '')
        if (content === 'too-large') throw new ApiError('too-large', 'The file is too large to be read here.')
        if (!content) throw new ApiError('not-found', 'There is no such file in the workspace.')
        return { status: 200, bytes: content, headers: FILE_HEADERS }
      },
    },
  ]
}

/** A browser must not run what a model wrote. */
const FILE_HEADERS = {
  'content-type': 'application/octet-stream',
  'content-disposition': 'attachment',
} as const
