import Foundation

/// Draws figures as bars that begin at the line of the goal. A bar to the right means that the goal is met.
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
        var drawing = SVGDrawing(
            width: width, height: height,
            title: "Results relative to the goals; bars to the right of the line meet them")
        for factor in [1 / 8.0, 0.25, 0.5, 1, 2, 4, 8] { mark(factor, height, in: &drawing) }
        for (index, figure) in figures.enumerated() {
            row(figure, Self.top + Double(index) * Self.rowHeight, in: &drawing)
        }
        return drawing.text
    }

    private func mark(_ factor: Double, _ height: Double, in drawing: inout SVGDrawing) {
        let x = position(factor)
        let name = factor == 1 ? "the goal" : factor > 1 ? "\(Int(factor)) x better" : "1/\(Int(1 / factor))"
        drawing.line(x: x...x, y: Self.top - 12...height - 8, color: factor == 1 ? "#333333" : "#dddddd")
        drawing.text(name, x: x, y: Self.top - 18, anchor: .middle, size: 11, color: "#555555")
    }

    private func row(_ figure: BenchFigure, _ y: Double, in drawing: inout SVGDrawing) {
        let (end, middle) = (position(figure.merit), position(1))
        let (left, right) = (min(end, middle), max(end, middle))
        let text = y + Self.rowHeight / 2 + 4
        let valueX = labelWidth + 2 * Self.halfWidth + 14
        // A bar that exceeds the scale ends in an arrow.
        if figure.merit > Self.maximumFactor {
            let half = Self.rowHeight / 2 - 3
            drawing.path("M\(right) \(y + 3) l8 \(half) l-8 \(half) z", color: "#2a9d6f")
        }
        drawing.text(figure.name, x: labelWidth - 10, y: text, anchor: .end, color: "#222222")
        drawing.rectangle(
            x: left, y: y + 3, width: max(right - left, 1), height: Self.rowHeight - 6,
            color: figure.isMet ? "#2a9d6f" : "#d9822b")
        drawing.text(figure.shownValue, x: valueX, y: text, color: "#222222")
        drawing.text(figure.shownLimit, x: valueX + valueWidth, y: text, color: "#777777")
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
}
