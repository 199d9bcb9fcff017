import Foundation

/// An SVG document of simple shapes on white, which is readable on light and dark backgrounds. Coordinates are in
/// pixels, from the top left corner.
struct SVGDrawing {
    enum Anchor: String {
        case start, middle, end
    }

    private var lines: [String]

    /// Creates a drawing without shapes. The title is its description for readers that do not see it.
    init(width: Double, height: Double, title: String) {
        lines = [
            ##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \##(Int(width)) \##(Int(height))" "##
                + ##"font-family="sans-serif" font-size="13" role="img">"##,
            "<title>\(Self.escaped(title))</title>", ##"<rect width="100%" height="100%" fill="#ffffff"/>"##,
        ]
    }

    var text: String { lines.joined(separator: "\n") + "\n</svg>\n" }

    mutating func line(x: ClosedRange<Double>, y: ClosedRange<Double>, color: String) {
        lines.append(
            ##"<line x1="\##(x.lowerBound)" x2="\##(x.upperBound)" y1="\##(y.lowerBound)" y2="\##(y.upperBound)" "##
                + ##"stroke="\##(color)"/>"##)
    }

    mutating func rectangle(x: Double, y: Double, width: Double, height: Double, color: String) {
        lines.append(
            ##"<rect x="\##(x)" y="\##(y)" width="\##(width)" height="\##(height)" fill="\##(color)"/>"##)
    }

    mutating func path(_ commands: String, color: String) {
        lines.append(##"<path d="\##(commands)" fill="\##(color)"/>"##)
    }

    /// Draws a line through points, with a dot at each.
    mutating func polyline(_ points: [(x: Double, y: Double)], color: String) {
        let list = points.map { "\($0.x),\($0.y)" }.joined(separator: " ")
        lines.append(##"<polyline points="\##(list)" fill="none" stroke="\##(color)" stroke-width="1.5"/>"##)
        lines += points.map { ##"<circle cx="\##($0.x)" cy="\##($0.y)" r="2.5" fill="\##(color)"/>"## }
    }

    mutating func text(
        _ text: String, x: Double, y: Double, anchor: Anchor = .start, size: Int = 13, color: String
    ) {
        let anchored = anchor == .start ? "" : ##" text-anchor="\##(anchor.rawValue)""##
        let sized = size == 13 ? "" : ##" font-size="\##(size)""##
        lines.append(
            ##"<text x="\##(x)" y="\##(y)"\##(anchored)\##(sized) fill="\##(color)">\##(Self.escaped(text))</text>"##)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
