import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import type { GrowthPoint } from '../inspected-exchange.ts'
import { formatCount, formatWhole } from './format.ts'
import { KIND_NAMES, KINDS } from './kinds.ts'
import { theme } from './theme.ts'

const HEIGHT = 180

interface GrowthChartProps {
  readonly points: readonly GrowthPoint[]
  readonly current: number
}

/** The size of each request of the session, stacked by kind. */
export function GrowthChart({ points, current }: GrowthChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const hovered = useSignal<number | undefined>(undefined)
  useEffect(() => {
    const element = place.current
    if (!element || points.length < 2) return undefined
    const chart = new uPlot(
      createOptions(element, points, current, (at) => (hovered.value = at)),
      createData(points),
      element,
    )
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      chart.destroy()
    }
  }, [points, current, theme.value])
  if (points.length < 2) return <p class="muted">There is only one request so far.</p>
  const point = points[hovered.value ?? points.findIndex(({ id }) => id === current)]
  return (
    <>
      <div class="growth" ref={place} data-testid="growth" />
      <p class="muted growth-text">{point ? describe(point) : ' '}</p>
    </>
  )
}

function describe({ id, tokens }: GrowthPoint): string {
  const total = Object.values(tokens).reduce((sum, one) => sum + one, 0)
  const largest = KINDS.map((kind) => [kind, tokens[kind] ?? 0] as const).toSorted((one, other) => other[1] - one[1])
  const parts = largest
    .slice(0, 3)
    .flatMap(([kind, count]) => (count > 0 ? [`${KIND_NAMES[kind]} ${formatCount(count)}`] : []))
  return `#${id}: ${formatWhole(total)} tokens. ${parts.join(', ')}`
}

/** The sums from below: series are drawn from the top of the stack to its bottom, each over the one before. */
function createData(points: readonly GrowthPoint[]): uPlot.AlignedData {
  const sums = KINDS.map((_, last) =>
    points.map(({ tokens }) => KINDS.slice(0, last + 1).reduce((sum, kind) => sum + (tokens[kind] ?? 0), 0)),
  )
  return [points.map((_, at) => at), ...sums.toReversed()] as uPlot.AlignedData
}

function createOptions(
  element: HTMLElement,
  points: readonly GrowthPoint[],
  current: number,
  onHover: (at: number | undefined) => void,
): uPlot.Options {
  const style = getComputedStyle(element)
  const color = (name: string): string => style.getPropertyValue(name).trim()
  const axis = {
    stroke: color('--muted'),
    font: `11px ${style.fontFamily}`,
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  }
  const at = points.findIndex(({ id }) => id === current)
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: { x: { time: false }, y: { range: (_chart, _min, max) => [0, Math.max(1, max * 1.05)] } },
    axes: [
      {
        ...axis,
        size: 28,
        values: (_chart, splits) =>
          splits.map((split) => (Number.isInteger(split) ? `#${points[split]?.id ?? ''}` : '')),
      },
      { ...axis, size: 52, values: (_chart, splits) => splits.map((split) => formatCount(split)) },
    ],
    series: [
      {},
      ...KINDS.toReversed().map((kind) => ({
        stroke: color(`--kind-${kind}`),
        fill: color(`--kind-${kind}`),
        width: 0,
        points: { show: false },
      })),
    ],
    hooks: {
      setCursor: [({ cursor }) => onHover(cursor.idx ?? undefined)],
      draw: [
        (chart) => {
          if (at < 0) return
          const x = Math.round(chart.valToPos(at, 'x', true))
          chart.ctx.fillStyle = color('--text')
          chart.ctx.fillRect(x, chart.bbox.top, Math.max(1, devicePixelRatio), chart.bbox.height)
        },
      ],
    },
  }
}
