#if AVIF
    import AlcedoAVIF
    import AlcedoCore
    import Foundation
    import TestSupport
    import Testing

    @Suite struct AVIFSequenceTests {
        private let decoder = AVIFDecoder()

        private func frames(_ data: Data, _ options: DecodingOptions = DecodingOptions()) throws -> any ImageFrameSource
        {
            try #require(try decoder.decode(data, options: options).frames)
        }

        @Test func `frames are decoded in any order`() throws {
            let frames = try frames(sequenceFile(frameCount: 5))

            for index in [0, 1, 4, 2, 3, 3, 0] {
                let pixels = try frames.frame(at: index)
                #expect(pixels.tightBytes == (try sequenceFrame(index).tightBytes), "frame \(index)")
                #expect(pixels.alphaMode == .opaque)
            }
        }

        @Test func `durations and the canvas are known`() throws {
            let data = try sequenceFile(frameCount: 4)

            let frames = try frames(data)
            let info = try decoder.inspect(data, limits: DecodingLimits())

            let delays = [40, 50, 60, 70].map { Duration.milliseconds($0) }
            #expect((0..<4).map(frames.rawDelay) == delays)
            #expect((0..<4).map(frames.delay) == delays)
            #expect(frames.canvasSize == PixelSize(width: 21, height: 15))
            #expect(info.frameCount == 4)
            #expect(info.delays == delays)
            #expect(frames.cost > data.count)
        }

        @Test func `successive frames with equal durations keep them`() throws {
            let pixels = try (0..<4).map { try sequenceFrame($0) }
            let delays = [40, 40, 60, 60].map { Duration.milliseconds($0) }
            let source = MadeFrames(
                pixels[0].size, (0..<4).map { (pixels: Optional(pixels[$0]), delay: delays[$0]) })
            let image = DecodedImage(pixels: pixels[0], frames: source)

            let frames = try frames(AVIFEncoder(compression: .lossless, speed: 10).encode(image))

            #expect((0..<4).map(frames.rawDelay) == delays)
        }

        @Test func `durations of at most 10 ms are shown for 100 ms`() throws {
            let pixels = try sequenceFrame(0)
            let source = MadeFrames(pixels.size, [(pixels, .milliseconds(10)), (pixels, .milliseconds(11))])
            let image = DecodedImage(pixels: pixels, frames: source)

            let frames = try frames(AVIFEncoder(compression: .lossless, speed: 10).encode(image))

            #expect(frames.delay(at: 0) == .milliseconds(100))
            #expect(frames.rawDelay(at: 0) == .milliseconds(10))
            #expect(frames.delay(at: 1) == .milliseconds(11))
        }

        @Test func `a delay below the limit of the format is kept to the millisecond`() throws {
            let (first, second) = (try sequenceFrame(0), try sequenceFrame(1))
            let source = MadeFrames(first.size, [(first, .milliseconds(16_777_001)), (second, .milliseconds(30))])
            let image = DecodedImage(pixels: first, frames: source)

            let frames = try frames(AVIFEncoder(compression: .lossless, speed: 10).encode(image))

            #expect((0..<2).map(frames.rawDelay) == [.milliseconds(16_777_001), .milliseconds(30)])
        }

        @Test func `only the first frame is decoded on request`() throws {
            let image = try decoder.decode(
                sequenceFile(frameCount: 3), options: DecodingOptions(includesAnimation: false))

            #expect(image.frames == nil)
            #expect(try image.pixels == sequenceFrame(0))
        }

        @Test func `a target size reduces every frame`() throws {
            let options = DecodingOptions(target: TargetSize(width: 7, height: 5))
            let frames = try frames(sequenceFile(frameCount: 3), options)

            let reduction = BoxReduction(from: PixelSize(width: 21, height: 15), towards: options.target)
            #expect(frames.canvasSize == PixelSize(width: 7, height: 5))
            #expect(try frames.frame(at: 2) == sequenceFrame(2).reduced(by: reduction))
        }

        @Test(arguments: [nil, 1, 3, 70_000] as [Int?])
        func `the number of plays is written`(plays: Int?) throws {
            let pixels = try (0..<2).map { try sequenceFrame($0).reinterpreted(as: .straight) }
            let source = MadeFrames(
                pixels[0].size, playCount: plays, pixels.map { (pixels: Optional($0), delay: .milliseconds(40)) })

            let data = try AVIFEncoder(compression: .lossless, speed: 10).encode(
                DecodedImage(pixels: pixels[0], frames: source))

            let frames = try frames(data)
            #expect(frames.playCount == plays)
            #expect(frames.rawDelay(at: 1) == .milliseconds(40))
            #expect(try frames.frame(at: 1).tightBytes == pixels[1].tightBytes)
            let still = try decoder.decode(data, options: DecodingOptions(includesAnimation: false))
            #expect(still.pixels.tightBytes == pixels[0].tightBytes)
        }

        @Test(arguments: [
            (0, 100, 300, 1 as Int?), (1, 100, 100, 1), (1, 100, 500, 5), (1, 100, 501, 6), (1, 100, 0xFFFF_FFFF, nil),
        ])
        func `the edit list states the number of plays`(flags: Int, edit: Int, whole: Int, plays: Int?) throws {
            let file = try repeated(sequenceFile(frameCount: 3), flags: flags, edit: edit, whole: whole)

            #expect(try frames(file).playCount == plays)
            #expect(try decoder.inspect(file, limits: DecodingLimits()).loopCount == plays ?? 0)
            #expect(try frames(file).frame(at: 1) == sequenceFrame(1))
        }

        @Test(arguments: [0, 6, 7, 8, 9, 10])
        func `a lossless sequence is exact at every speed`(speed: Int) throws {
            let whole = try samplePixels(PixelSize(width: 22, height: 9), alpha: true)
            let pixels = try (0..<3).map { try cropped(whole, x: $0 / 2, y: 0, width: 21, height: 9) }
            let source = MadeFrames(pixels[0].size, pixels.map { (pixels: Optional($0), delay: .milliseconds(40)) })

            let frames = try frames(
                AVIFEncoder(compression: .lossless, speed: speed).encode(
                    DecodedImage(pixels: pixels[0], frames: source)))

            for index in 0..<3 { #expect(try frames.frame(at: index) == pixels[index]) }
        }

        @Test(arguments: [6, 7, 8, 9, 10])
        func `a lossy sequence of many frames is encoded at every speed, with exact alpha`(speed: Int) throws {
            let whole = try samplePixels(PixelSize(width: 80, height: 64), alpha: true)
            let pixels = try (0..<12).map { try cropped(whole, x: $0, y: 0, width: 64, height: 64) }
            let source = MadeFrames(pixels[0].size, pixels.map { (pixels: Optional($0), delay: .milliseconds(40)) })

            let frames = try frames(
                AVIFEncoder(compression: .lossy(quality: 60), speed: speed).encode(
                    DecodedImage(pixels: pixels[0], frames: source)))

            #expect(frames.frameCount == 12)
            for index in [0, 11] { #expect(try alpha(of: frames.frame(at: index)) == alpha(of: pixels[index])) }
        }

        private func alpha(of pixels: PixelBuffer) -> [UInt8] {
            let bytes = [UInt8](pixels.tightBytes)
            return stride(from: 3, to: bytes.count, by: 4).map { bytes[$0] }
        }

        @Test func `color of a sequence that is stored premultiplied is divided by alpha`() throws {
            let whole = try samplePixels(PixelSize(width: 22, height: 9), alpha: true)
            let pixels = try (0..<2).map { index in
                try cropped(whole, x: index, y: 0, width: 21, height: 9).converted(to: .premultiplied)
            }
            let stored = pixels.map { $0.reinterpreted(as: .straight) }
            let source = MadeFrames(
                stored[0].size, stored.map { (pixels: Optional($0), delay: .milliseconds(40)) })
            let data = try AVIFEncoder(compression: .lossless, speed: 10).encode(
                DecodedImage(pixels: stored[0], frames: source))
            // The track of color is the first, and that of alpha is the second.
            let reference = AVIFBuilder.box("tref", AVIFBuilder.box("prem", AVIFBuilder.number(2, 4)))

            let frames = try frames(adding(reference, to: data))

            for index in 0..<2 { #expect(try frames.frame(at: index) == pixels[index].converted(to: .straight)) }
        }

        /// Returns a file with an edit list.
        private func repeated(_ data: Data, flags: Int, edit: Int, whole: Int) throws -> Data {
            let number = AVIFBuilder.number
            let list = AVIFBuilder.box(
                "edts",
                AVIFBuilder.box(
                    "elst", [0, 0, 0, UInt8(flags)] + number(1, 4) + number(edit, 4) + number(0, 4) + [0, 1, 0, 0]))
            return try adding(list, to: data) { movie, header in
                let isLong = movie[header + 8] == 1
                // A 64-bit duration is unlimited when all of its bits are set.
                let limited =
                    isLong && whole == 0xFFFF_FFFF ? [UInt8](repeating: 0xFF, count: 8) : number(whole, isLong ? 8 : 4)
                movie.replaceSubrange(
                    header + 8 + (isLong ? 28 : 20)..<header + 8 + (isLong ? 36 : 24), with: limited)
                // Encoders of libavif 1.x write a list, which this one replaces.
                if let old = Data(movie).range(of: Data("edts".utf8)) {
                    movie.replaceSubrange(old.lowerBound..<old.upperBound, with: Array("free".utf8))
                }
            }
        }

        /// Returns a file with a box after the header of the first track. The old movie box becomes free space, so no
        /// offset changes.
        ///
        /// - Parameter change: Changes the movie box without moving bytes. Receives the position of the track's header.
        private func adding(
            _ box: [UInt8], to data: Data, _ change: (inout [UInt8], Int) -> Void = { _, _ in }
        ) throws -> Data {
            var file = data
            var movie = try CodedImage.box("moov", in: data)
            let start = try #require(data.range(of: Data("moov".utf8))).lowerBound
            file.replaceSubrange(start..<start + 4, with: Data("free".utf8))
            let header = try #require(Data(movie).range(of: Data("tkhd".utf8))).lowerBound - 4
            change(&movie, header)
            movie.insert(contentsOf: box, at: header + Int(movie[header + 3]))
            movie.replaceSubrange(0..<4, with: AVIFBuilder.number(movie.count, 4))
            let track = header - 8
            let trackSize = movie[track..<track + 4].reduce(0) { $0 << 8 | Int($1) }
            movie.replaceSubrange(track..<track + 4, with: AVIFBuilder.number(trackSize + box.count, 4))
            return file + Data(movie)
        }
    }
#endif
