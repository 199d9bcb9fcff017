import Foundation

/// Draws figures as bars that begin at the line of the goal. A bar to the right means that the goal is met. The SVG
/// consists of simple shapes and is readable on light and dark backgrounds.
struct FigurePlot {
    private static let rowHeight = 22.0
    private static let halfWidth = 200.0
    /// The estimated mean width of a character of the font.
    private static let characterWidth = 7.0
    private static let top = 44.0
    /// The factor at both ends of the scale.
    private static let maximumFactor = 8.0

    let figures: [BenchFigure]

    private var labelWidth: Double { Self.width(figures.map(\.name)) }
    private var valueWidth: Double { Self.width(figures.map(\.shownValue)) }

    var svg: String {
        let width = labelWidth + 2 * Self.halfWidth + valueWidth + Self.width(figures.map(\.shownLimit))
        let height = Self.top + Double(figures.count) * Self.rowHeight + 12
        var lines = [
            ##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \##(Int(width)) \##(Int(height))" "##
                + ##"font-family="sans-serif" font-size="13" role="img">"##,
            "<title>Results relative to the goals; bars to the right of the line meet them</title>",
            ##"<rect width="100%" height="100%" fill="#ffffff"/>"##,
        ]
        for factor in [1 / 8.0, 0.25, 0.5, 1, 2, 4, 8] { lines += mark(factor, height) }
        for (index, figure) in figures.enumerated() { lines += row(figure, Self.top + Double(index) * Self.rowHeight) }
        return lines.joined(separator: "\n") + "\n</svg>\n"
    }

    private func mark(_ factor: Double, _ height: Double) -> [String] {
        let x = position(factor)
        let name = factor == 1 ? "the goal" : factor > 1 ? "\(Int(factor)) x better" : "1/\(Int(1 / factor))"
        return [
            ##"<line x1="\##(x)" x2="\##(x)" y1="\##(Self.top - 12)" y2="\##(height - 8)" stroke="#\##(factor == 1 ? "333333" : "dddddd")"/>"##,
            ##"<text x="\##(x)" y="\##(Self.top - 18)" text-anchor="middle" font-size="11" fill="#555555">\##(name)</text>"##,
        ]
    }

    private func row(_ figure: BenchFigure, _ y: Double) -> [String] {
        let (end, middle) = (position(figure.merit), position(1))
        let (left, right) = (min(end, middle), max(end, middle))
        let text = y + Self.rowHeight / 2 + 4
        let valueX = labelWidth + 2 * Self.halfWidth + 14
        // A bar that exceeds the scale ends in an arrow.
        let tip =
            figure.merit > Self.maximumFactor
            ? [
                ##"<path d="M\##(right) \##(y + 3) l8 \##(Self.rowHeight / 2 - 3) l-8 \##(Self.rowHeight / 2 - 3) z" fill="#2a9d6f"/>"##
            ]
            : []
        return tip + [
            ##"<text x="\##(labelWidth - 10)" y="\##(text)" text-anchor="end" fill="#222222">\##(Self.escaped(figure.name))</text>"##,
            ##"<rect x="\##(left)" y="\##(y + 3)" width="\##(max(right - left, 1))" height="\##(Self.rowHeight - 6)" "##
                + ##"fill="#\##(figure.isMet ? "2a9d6f" : "d9822b")"/>"##,
            ##"<text x="\##(valueX)" y="\##(text)" fill="#222222">\##(Self.escaped(figure.shownValue))</text>"##,
            ##"<text x="\##(valueX + valueWidth)" y="\##(text)" fill="#777777">\##(Self.escaped(figure.shownLimit))</text>"##,
        ]
    }

    /// Returns the x coordinate of a factor on a logarithmic scale.
    private func position(_ factor: Double) -> Double {
        let bounded = factor.isNaN ? 1 : min(Self.maximumFactor, max(1 / Self.maximumFactor, factor))
        let x = labelWidth + Self.halfWidth * (1 + log2(bounded) / log2(Self.maximumFactor))
        return (x * 10).rounded() / 10
    }

    private static func width(_ texts: [String]) -> Double {
        Double(texts.map(\.count).max() ?? 0) * characterWidth + 20
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
