/** One line of a panel, or its bars: a value for each position on the x axis. */
export interface Series {
  readonly name: string
  readonly values: readonly number[]
}
/** A small chart next to others with the same kind of y axis, from 0. */
export interface Panel {
  readonly title: string
  readonly x: readonly string[]
  readonly series: readonly Series[]
  /** Limits that the values must not exceed, each at one position on the x axis. */
  readonly limits?: readonly { readonly place: number; readonly value: number; readonly label: string }[]
}
export interface Chart {
  readonly title: string
  readonly unit: string
  readonly kind: 'lines' | 'bars'
  readonly columns: number
  readonly panels: readonly Panel[]
}

export const themes = {
  light: { text: '#1f2328', quiet: '#59636e', grid: '#d1d9e0', series: ['#0969da', '#bc4c00', '#1a7f37', '#8250df'] },
  dark: { text: '#f0f6fc', quiet: '#9198a1', grid: '#3d444d', series: ['#4493f8', '#f0883e', '#3fb950', '#ab7df8'] },
} as const
export type Theme = keyof typeof themes

const plot = { width: 250, height: 120, left: 44, right: 26, top: 34, bottom: 30 }
const panelWidth = plot.left + plot.width + plot.right
const panelHeight = plot.top + plot.height + plot.bottom
const headHeight = 64
const labelY = plot.top + plot.height + 17

/** Draws a chart as SVG, for a light or a dark page, without a background. */
export function drawChart(chart: Chart, theme: Theme): string {
  const { text, quiet } = themes[theme]
  const columns = Math.min(chart.columns, chart.panels.length)
  const names = [...new Set(chart.panels.flatMap(({ series }) => series.map(({ name }) => name)))]
  const width = Math.ceil(
    Math.max(
      columns * panelWidth,
      32 + chart.title.length * 9.2 + chart.unit.length * 7,
      names.reduce((end, name) => end + widthInLegend(name), 10),
    ),
  )
  const height = headHeight + Math.ceil(chart.panels.length / columns) * panelHeight
  const panels = chart.panels.map((panel, index) => {
    const [x, y] = [(index % columns) * panelWidth, headHeight + Math.floor(index / columns) * panelHeight]
    return `<g transform="translate(${x} ${y})">${drawPanel(panel, chart, names, theme)}</g>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`,
    ` font-family="system-ui, 'Segoe UI', 'Noto Sans', sans-serif" font-size="12" fill="${quiet}">`,
    `<title>${escaped(chart.title)}</title>`,
    `<text x="10" y="22" font-size="16" font-weight="600" fill="${text}">${escaped(chart.title)}`,
    `<tspan dx="6" font-size="12" font-weight="400" fill="${quiet}">${escaped(chart.unit)}</tspan></text>`,
    drawLegend(names, theme),
    ...panels,
    '</svg>\n',
  ].join('\n')
}

/** Returns the width of a swatch, its name and the space after it. */
const widthInLegend = (name: string): number => 44 + name.length * 6.6

function drawLegend(names: readonly string[], theme: Theme): string {
  let x = 10
  const entries = names.map((name, index) => {
    const swatch = `<rect x="${x}" y="36" width="14" height="10" rx="2" fill="${colourOf(index, theme)}"/>`
    const entry = `${swatch}<text x="${x + 20}" y="45">${escaped(name)}</text>`
    x += widthInLegend(name)
    return entry
  })
  return entries.join('')
}

function drawPanel(panel: Panel, chart: Chart, names: readonly string[], theme: Theme): string {
  const { text, grid } = themes[theme]
  const highest = Math.max(
    ...panel.series.flatMap(({ values }) => values),
    ...(panel.limits ?? []).map(({ value }) => value),
  )
  const step = niceStep(highest)
  const top = Math.max(step, Math.ceil((highest * 1.02) / step) * step)
  const yOf = (value: number): number => plot.top + plot.height * (1 - value / top)
  const marks = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step).map(
    (value) =>
      `<path d="M${plot.left} ${at(yOf(value))}h${plot.width}" stroke="${grid}"/>` +
      `<text x="${plot.left - 6}" y="${at(yOf(value) + 4)}" text-anchor="end" font-size="11">${numeral(value)}</text>`,
  )
  const draw = chart.kind === 'lines' ? drawLines : drawBars
  const limits = (panel.limits ?? []).map(({ place, value, label }) => {
    const [x, y] = [xOfPoint(place, panel.x.length), yOf(value)]
    const cross = `<path d="M${at(x - 5)} ${at(y)}h10M${at(x)} ${at(y - 5)}v10" stroke="${text}" stroke-width="2"/>`
    return `${cross}<text x="${at(x - 8)}" y="${at(y - 6)}" text-anchor="end" font-size="11">${escaped(label)}</text>`
  })
  return [
    `<text x="10" y="20" font-weight="600" fill="${text}">${escaped(panel.title)}</text>`,
    ...marks,
    draw(panel, { names, theme, yOf }),
    ...limits,
  ].join('\n')
}

interface Scale {
  readonly names: readonly string[]
  readonly theme: Theme
  readonly yOf: (value: number) => number
}

function drawLines({ x, series }: Panel, { names, theme, yOf }: Scale): string {
  const xOf = (place: number): number => xOfPoint(place, x.length)
  // Marks are drawn only for few positions.
  const marked = x.length <= 8
  const lines = series.map(({ name, values }) => {
    const colour = colourOf(names.indexOf(name), theme)
    const points = values.map((value, place) => `${at(xOf(place))},${at(yOf(value))}`)
    const dots = values.map(
      (value, place) => `<circle cx="${at(xOf(place))}" cy="${at(yOf(value))}" r="3" fill="${colour}"/>`,
    )
    const line = `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`
    return line + (marked ? dots.join('') : '')
  })
  return [...lines, ...x.map((label, place) => labelBelow(label, xOf(place)))].join('\n')
}

function drawBars({ x, series }: Panel, { names, theme, yOf }: Scale): string {
  const slot = plot.width / x.length
  const width = Math.min(34, (slot * 0.8) / series.length)
  const bars = series.flatMap(({ name, values }, index) =>
    values.map((value, place) => {
      const left = plot.left + slot * (place + 0.5) + width * (index - series.length / 2)
      const [y, bottom] = [yOf(value), yOf(0)]
      const size = `width="${at(width - 2)}" height="${at(bottom - y)}"`
      const fill = colourOf(names.indexOf(name), theme)
      const middle = at(left + width / 2)
      return [
        `<rect x="${at(left + 1)}" y="${at(y)}" ${size} rx="2" fill="${fill}"/>`,
        `<text x="${middle}" y="${at(y - 4)}" text-anchor="middle" font-size="10">${numeral(value)}</text>`,
      ].join('')
    }),
  )
  return [...bars, ...x.map((label, place) => labelBelow(label, plot.left + slot * (place + 0.5)))].join('\n')
}

const labelBelow = (label: string, x: number): string =>
  label === '' ? '' : `<text x="${at(x)}" y="${labelY}" text-anchor="middle" font-size="11">${escaped(label)}</text>`

const xOfPoint = (place: number, count: number): number => plot.left + (plot.width * place) / Math.max(1, count - 1)
const colourOf = (index: number, theme: Theme): string =>
  themes[theme].series[index % themes[theme].series.length] ?? themes[theme].text
const at = (value: number): string => String(Math.round(value * 10) / 10)

/** Returns 1, 2 or 5 times a power of ten, so that there are three to six lines. */
function niceStep(highest: number): number {
  const rough = Math.max(highest, 1e-6) / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  return ([1, 2, 5].find((one) => one * power >= rough) ?? 10) * power
}

/** Formats a value with three digits, thousands as `k`. */
export function numeral(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`
  if (value >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`
  return String(Number(value.toPrecision(3)))
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
