import { isObject, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { Grounding } from '../../model/grounding.ts'

/** The grounding of a candidate; later chunks of a response have more of it than earlier ones. */
export function mergeGrounding(candidate: Record<string, unknown>, previous?: Grounding): Grounding | undefined {
  const metadata = objectOrEmpty(candidate['groundingMetadata'])
  const context = objectOrEmpty(candidate['urlContextMetadata'])
  const sources = toObjects(metadata['groundingChunks']).map(toSource)
  const supports = toObjects(metadata['groundingSupports']).flatMap(toSupports)
  const pages = toObjects(context['urlMetadata'] ?? context['url_metadata']).map(toPage)
  const merged: Grounding = {
    sources: sources.length > 0 ? sources : (previous?.sources ?? []),
    supports: supports.length > 0 ? supports : (previous?.supports ?? []),
    pages: pages.length > 0 ? pages : (previous?.pages ?? []),
  }
  return merged.sources.length + merged.pages.length > 0 ? merged : undefined
}

function toSource(chunk: Record<string, unknown>): Grounding['sources'][number] {
  const web = [chunk['web'], chunk['retrievedContext']].find(isObject) ?? {}
  return { title: stringOrEmpty(web['title']), url: stringOrEmpty(web['uri']) }
}

function toSupports(fields: Record<string, unknown>): Grounding['supports'] {
  const segment = objectOrEmpty(fields['segment'])
  const indices = fields['groundingChunkIndices']
  const sources = Array.isArray(indices)
    ? indices.filter((one): one is number => Number.isInteger(one) && one >= 0)
    : []
  if (sources.length === 0) return []
  return [
    {
      start: toIndex(segment['startIndex']),
      end: toIndex(segment['endIndex']),
      text: stringOrEmpty(segment['text']),
      sources,
    },
  ]
}

function toPage(fields: Record<string, unknown>): Grounding['pages'][number] {
  const status = stringOrEmpty(fields['urlRetrievalStatus'] ?? fields['url_retrieval_status'])
  return { url: stringOrEmpty(fields['retrievedUrl'] ?? fields['retrieved_url']), read: status.endsWith('SUCCESS') }
}

/** Every element keeps its index, because supports refer to chunks by index. */
function toObjects(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.map(objectOrEmpty) : []
}

function toIndex(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0
}
