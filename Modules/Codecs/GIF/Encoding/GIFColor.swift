/// An opaque colour of 8 bits a sample.
struct GIFColor {
    var red: Int
    var green: Int
    var blue: Int

    init(red: Int, green: Int, blue: Int) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// - Parameter pixel: In memory red, green, blue, alpha.
    init(_ pixel: UInt32) {
        let word = pixel.littleEndian
        red = Int(word & 0xFF)
        green = Int(word &>> 8 & 0xFF)
        blue = Int(word &>> 16 & 0xFF)
    }

    var bytes: [UInt8] { [red, green, blue].map { UInt8(clamping: $0) } }

    /// The square of the distance in RGB.
    func distance(to other: GIFColor) -> Int {
        let (r, g, b) = (red &- other.red, green &- other.green, blue &- other.blue)
        return r &* r &+ g &* g &+ b &* b
    }
}
