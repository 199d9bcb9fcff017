import Foundation

/// Draws the time of one operation over the size, both on logarithmic scales. A series that grows linearly in total is
/// then a horizontal line, as is a look-up in constant time.
struct GrowthPlot {
    private static let left = 70.0
    private static let top = 30.0
    /// The length of a decade.
    private static let decade = 80.0
    /// The distance of the legend's lines.
    private static let lineHeight = 20.0
    private static let legendWidth = 430.0
    private static let grey = "#777777"

    /// The series that have points, without points that have no logarithm.
    private let series: [GrowthSeries]
    /// The decades of the sizes and of the times in seconds, as exponents of ten.
    private let sizes: ClosedRange<Int>
    private let times: ClosedRange<Int>

    init(series: [GrowthSeries]) {
        let drawn = series.map { series in
            var series = series
            series.points.removeAll { $0.size <= 0 || $0.seconds <= 0 }
            return series
        }.filter { !$0.points.isEmpty }
        self.series = drawn
        sizes = Self.decades(drawn.flatMap { $0.points.map { Double($0.size) } })
        times = Self.decades(drawn.flatMap { series in series.points.map { series.secondsOfOne($0) } })
    }

    var svg: String {
        let (width, height) = (Double(sizes.count - 1) * Self.decade, Double(times.count - 1) * Self.decade)
        let bottom = Self.top + height
        var drawing = SVGDrawing(
            width: Self.left + width + Self.legendWidth,
            height: max(bottom, Self.top + Double(series.count) * Self.lineHeight) + 50,
            title: "The time of one operation for growing sizes; a horizontal line is linear or constant time")
        for exponent in sizes {
            let x = column(pow(10, Double(exponent)))
            drawing.line(x: x...x, y: Self.top...bottom, color: "#dddddd")
            let name = GrowthTable.number(Int(pow(10, Double(exponent))))
            drawing.text(name, x: x, y: bottom + 18, anchor: .middle, size: 11, color: Self.grey)
        }
        for exponent in times {
            let y = row(pow(10, Double(exponent)))
            drawing.line(x: Self.left...Self.left + width, y: y...y, color: "#dddddd")
            let name = GrowthTable.time(pow(10, Double(exponent)))
            drawing.text(name, x: Self.left - 8, y: y + 4, anchor: .end, size: 11, color: Self.grey)
        }
        drawing.text("n", x: Self.left + width / 2, y: bottom + 38, anchor: .middle, color: Self.grey)
        for (index, series) in series.enumerated() {
            let color = Self.color(index, of: self.series.count)
            drawing.polyline(
                series.points.map { (column(Double($0.size)), row(series.secondsOfOne($0))) }, color: color)
            let (x, y) = (Self.left + width + 30, Self.top + (Double(index) + 0.5) * Self.lineHeight)
            drawing.rectangle(x: x, y: y - 5, width: 14, height: 10, color: color)
            let exponent = series.exponent.map { ", exponent \(GrowthTable.rounded($0))" } ?? ""
            drawing.text(series.name + exponent, x: x + 22, y: y + 4, color: "#222222")
        }
        return drawing.text
    }

    /// Returns the decades that contain all values, at least one.
    private static func decades(_ values: [Double]) -> ClosedRange<Int> {
        guard let least = values.min(), let greatest = values.max() else { return 0...1 }
        let first = Int(log10(least).rounded(.down))
        return first...max(first + 1, Int(log10(greatest).rounded(.up)))
    }

    private func column(_ size: Double) -> Double {
        Self.rounded(Self.left + (log10(size) - Double(sizes.lowerBound)) * Self.decade)
    }

    private func row(_ seconds: Double) -> Double {
        Self.rounded(Self.top + (Double(times.upperBound) - log10(seconds)) * Self.decade)
    }

    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }

    /// Returns one of `count` colors with different hues.
    private static func color(_ index: Int, of count: Int) -> String {
        // Neighbors in the legend differ in brightness as well.
        "hsl(\(360 * index / max(1, count)), 65%, \(index.isMultiple(of: 2) ? 36 : 52)%)"
    }
}
