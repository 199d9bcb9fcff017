#if GTK
    import Alcedo
    import FoundationEssentials

    /// A landscape as an image file, with its name, format and bytes.
    struct SceneFile {
        private static let places = [
            "valley", "ridge", "shore", "pass", "fjord", "plateau", "foothills", "bay", "summit", "moor", "gorge",
        ]
        private static let animationPeriod = 40

        let number: Int
        let format: ImageFormat

        init(number: Int) {
            self.number = number
            format =
                switch number % Self.animationPeriod {
                case 7: .gif
                case let rest where rest % 8 == 3: .webp
                case let rest where rest % 8 == 5: .png
                default: .jpeg
                }
        }

        var name: String {
            let digits = String(number)
            let zeros = String(repeating: "0", count: max(0, 4 - digits.count))
            let palette = ScenePalette.all[number % ScenePalette.all.count].name
            return "\(palette) \(Self.places[number % Self.places.count]) \(zeros)\(digits)"
        }

        /// Draws the landscape and returns the encoded file. Takes a few milliseconds, or a few hundred for an
        /// animation.
        func encoded() throws -> Data {
            let painter = ScenePainter(number: number)
            guard var image = painter.paint(number: number) else {
                throw ImageEncodingError(.outOfMemory, "cannot allocate a landscape: out of memory")
            }
            switch format {
            case .gif:
                image.frames = MovingScene(painter: painter, number: number)
                return try ImageEncoder.gif().encode(image)
            case .png: return try ImageEncoder.png(compressionLevel: 1).encode(image)
            case .webp: return try ImageEncoder.webp(quality: 80, method: 0).encode(image)
            default: return try ImageEncoder.jpeg(quality: 88).encode(image)
            }
        }
    }

    /// An animated landscape whose sun moves up and down.
    private struct MovingScene: ImageFrameSource {
        let painter: ScenePainter
        let number: Int

        let frameCount = 10
        let playCount: Int? = nil
        let cost = 0
        var canvasSize: PixelSize { ScenePainter.size }

        func delay(at index: Int) -> Duration { .milliseconds(100) }
        func rawDelay(at index: Int) -> Duration { .milliseconds(100) }

        func frame(at index: Int) throws -> PixelBuffer {
            let phase = Double(index) / Double(frameCount)
            guard let image = painter.paint(number: number, phase: phase) else {
                throw ImageEncodingError(.outOfMemory, "cannot allocate a landscape: out of memory")
            }
            return image.pixels
        }
    }
#endif
