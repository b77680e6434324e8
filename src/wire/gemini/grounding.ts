import { isObject } from '../../model/json.ts'
import type { Grounding } from '../../model/grounding.ts'

/** What a candidate says of its sources; later pieces of an answer say it more fully than earlier ones. */
export function mergeGrounding(candidate: Record<string, unknown>, previous?: Grounding): Grounding | undefined {
  const metadata = isObject(candidate['groundingMetadata']) ? candidate['groundingMetadata'] : {}
  const context = isObject(candidate['urlContextMetadata']) ? candidate['urlContextMetadata'] : {}
  const found: Grounding = {
    sources: toObjects(metadata['groundingChunks']).map(toSource),
    supports: toObjects(metadata['groundingSupports']).flatMap(toSupports),
    pages: toObjects(context['urlMetadata'] ?? context['url_metadata']).map(toPage),
  }
  const merged: Grounding = {
    sources: found.sources.length > 0 ? found.sources : (previous?.sources ?? []),
    supports: found.supports.length > 0 ? found.supports : (previous?.supports ?? []),
    pages: found.pages.length > 0 ? found.pages : (previous?.pages ?? []),
  }
  return merged.sources.length + merged.pages.length > 0 ? merged : undefined
}

/** A chunk that is no page keeps its place: supports name chunks by number. */
function toSource(chunk: Record<string, unknown>): Grounding['sources'][number] {
  const web = [chunk['web'], chunk['retrievedContext']].find(isObject) ?? {}
  return { title: toText(web['title']), url: toText(web['uri']) }
}

function toSupports(fields: Record<string, unknown>): Grounding['supports'] {
  const segment = isObject(fields['segment']) ? fields['segment'] : {}
  const indices = fields['groundingChunkIndices']
  const sources = Array.isArray(indices)
    ? indices.filter((one): one is number => Number.isInteger(one) && one >= 0)
    : []
  if (sources.length === 0) return []
  return [
    {
      start: toIndex(segment['startIndex']),
      end: toIndex(segment['endIndex']),
      text: toText(segment['text']),
      sources,
    },
  ]
}

function toPage(fields: Record<string, unknown>): Grounding['pages'][number] {
  const status = toText(fields['urlRetrievalStatus'] ?? fields['url_retrieval_status'])
  return { url: toText(fields['retrievedUrl'] ?? fields['retrieved_url']), read: status.endsWith('SUCCESS') }
}

function toObjects(fields: unknown): Record<string, unknown>[] {
  return Array.isArray(fields) ? fields.map((one) => (isObject(one) ? one : {})) : []
}

function toText(fields: unknown): string {
  return typeof fields === 'string' ? fields : ''
}

function toIndex(fields: unknown): number {
  return typeof fields === 'number' && Number.isInteger(fields) && fields >= 0 ? fields : 0
}
