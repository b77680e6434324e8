import { isObject, type Json } from '../../model/json.ts'
import { type IncomingRequest, extractTexts } from '../request/incoming-request.ts'
import type { RequestExtraction, ScriptStep } from './script.ts'

/** Values for `{name}` in texts. */
export type TemplateValues = Readonly<Record<string, string>>

/** Only known names are replaced, so that code keeps its braces; `{{name}}` gives `{name}`. */
export function fillTemplate(text: string, values: TemplateValues): string {
  return text.replaceAll(/\{(\{?)(\w+)\}(\}?)/g, (whole, open: string, name: string, close: string) => {
    if (!Object.hasOwn(values, name)) return whole
    if (open !== '' && close !== '') return `{${name}}`
    return `${open}${values[name] ?? ''}${close}`
  })
}

export function extractStepValues(
  extractions: Readonly<Record<string, RequestExtraction>>,
  values: TemplateValues,
  incomingRequest: IncomingRequest,
): TemplateValues {
  const found = Object.entries(extractions).map(([name, extraction]) => {
    const value = extractValue(extraction, incomingRequest) ?? ''
    return [name, typeof value === 'string' ? value : JSON.stringify(value)] as const
  })
  return { ...values, ...Object.fromEntries(found) }
}

export function fillArgumentTemplates(value: Json, values: TemplateValues, incomingRequest: IncomingRequest): Json {
  if (typeof value === 'string') return fillTemplate(value, values)
  if (Array.isArray(value)) return value.map((item) => fillArgumentTemplates(item, values, incomingRequest))
  if (!isObject(value)) return value
  if (typeof value['$from'] === 'string')
    return extractValue(value as unknown as RequestExtraction, incomingRequest) ?? ''
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, fillArgumentTemplates(inner, values, incomingRequest)]),
  )
}

/** A message about a value that the request does not contain; undefined if it contains all. */
export function describeMissingTemplateValue(step: ScriptStep, incomingRequest: IncomingRequest): string | undefined {
  const allExtractions = [
    ...Object.values(step.take ?? {}),
    ...(step.call ?? []).flatMap(({ args = {} }) => findExtractions(args)),
  ]
  const unmatched = allExtractions.find((extraction) => extractValue(extraction, incomingRequest) === undefined)
  return unmatched && `The ${unmatched.$from} text has no match for /${unmatched.match}/, which the script extracts.`
}

function findExtractions(value: Json): RequestExtraction[] {
  if (Array.isArray(value)) return value.flatMap(findExtractions)
  if (!isObject(value)) return []
  return typeof value['$from'] === 'string'
    ? [value as unknown as RequestExtraction]
    : Object.values(value).flatMap(findExtractions)
}

function extractValue(extraction: RequestExtraction, incomingRequest: IncomingRequest): Json | undefined {
  const found = new RegExp(extraction.match, 'm').exec(extractTexts(incomingRequest.readRequest())[extraction.$from])
  return found ? (found[1] ?? found[0]) : extraction.else
}
