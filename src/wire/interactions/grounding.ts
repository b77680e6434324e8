import type { Grounding, GroundingSource } from '../../model/grounding.ts'
import { filterObjects, stringOrEmpty } from '../../model/json.ts'
import type { JsonFields } from './content.ts'

/** Collects what the vendor looked up: the pages that the text cites, and those that it was asked to read. */
export function createGroundingCollector() {
  const sources: GroundingSource[] = []
  const supports: Grounding['supports'][number][] = []
  const pages: Grounding['pages'][number][] = []

  function addCitation({ url, title, start_index: start, end_index: end }: JsonFields): void {
    const source = { title: stringOrEmpty(title), url: stringOrEmpty(url) }
    const known = sources.findIndex((one) => one.url === source.url)
    const at = known >= 0 ? known : sources.push(source) - 1
    supports.push({ start: toIndex(start), end: toIndex(end), text: '', sources: [at] })
  }

  return {
    /** A step or a delta. */
    add(fields: JsonFields): void {
      // Most deltas are plain text.
      if (fields['type'] === 'text' && fields['annotations'] === undefined) return
      const content = [fields, ...filterObjects(fields['content'])]
      for (const annotation of content.flatMap(({ annotations }) => filterObjects(annotations)))
        if (annotation['type'] === 'url_citation') addCitation(annotation)
      if (fields['type'] !== 'url_context_result') return
      for (const { url, status } of filterObjects(fields['result']))
        pages.push({ url: stringOrEmpty(url), read: status === 'success' })
    },
    get: (): Grounding | undefined => (sources.length + pages.length > 0 ? { sources, supports, pages } : undefined),
  }
}

function toIndex(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0
}
