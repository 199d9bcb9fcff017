#if GTK
    import Alcedo

    /// A landscape whose sun goes up and down.
    struct MovingScene: ImageFrameSource {
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
                throw ImageEncodingError(.outOfMemory, "there is no memory for a landscape")
            }
            return image.pixels
        }
    }
#endif
