/// One average along a row: each sample of the result costs the same whatever the radius.
struct RunningAverage {
    let radius: Int
    /// How much the samples beyond the radius count.
    let edge: Float
    let share: Float

    init(radius: Int, edge: Float) {
        self.radius = radius
        self.edge = edge
        share = 1 / (Float(2 * radius + 1) + 2 * edge)
    }

    /// Averages `length` pixels into as many as have all their neighbours, and returns how many.
    func average(
        _ row: UnsafePointer<Float>, _ length: Int, channels: Int, into out: UnsafeMutablePointer<Float>
    ) -> Int {
        let count = length - 2 * (radius + 1)
        if channels == 4 { color(row, count, out) } else { gray(row, count, out) }
        return count
    }

    private func color(_ row: UnsafePointer<Float>, _ count: Int, _ out: UnsafeMutablePointer<Float>) {
        let (source, target) = (UnsafeRawPointer(row), UnsafeMutableRawPointer(out))
        let load = { (x: Int) in source.load(fromByteOffset: x &* 16, as: SIMD4<Float>.self) }
        let window = 2 * radius + 2
        var sum = SIMD4<Float>(repeating: 0)
        for x in 1..<window { sum += load(x) }
        for x in 0..<count {
            let newest = load(x &+ window)
            let result = (sum + (newest + load(x)) * edge) * share
            target.storeBytes(of: result, toByteOffset: x &* 16, as: SIMD4<Float>.self)
            sum += newest - load(x &+ 1)
        }
    }

    private func gray(_ row: UnsafePointer<Float>, _ count: Int, _ out: UnsafeMutablePointer<Float>) {
        let window = 2 * radius + 2
        var sum: Float = 0
        for x in 1..<window { sum += row[x] }
        for x in 0..<count {
            let newest = row[x &+ window]
            out[x] = (sum + (newest + row[x]) * edge) * share
            sum += newest - row[x &+ 1]
        }
    }
}
