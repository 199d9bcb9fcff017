#if GTK
    import Alcedo
    import AlcedoTesting
    import ExampleSupport
    import FoundationEssentials

    /// A server on 127.0.0.1 that draws a landscape for each number, in all formats.
    struct SceneServer {
        let items: [GalleryItem]
        // Serves as long as somebody holds it.
        private let origin: LoopbackOrigin

        init(count: Int, weather: NetworkWeather) throws {
            var options = OriginOptions()
            // So that it counts how often each was asked for.
            options.logLimit = count
            let origin = try LoopbackOrigin(options: options) { request in
                guard let number = Int(request.path.dropFirst().prefix { $0 != "." }), (0..<count).contains(number)
                else { return .status(404) }
                // A picture that is not to be had may be the next time.
                var dice = SceneRandom(seed: UInt64(number) << 20 | UInt64(request.attempt))
                if dice.next(in: 0..<1) < weather.failureRate { return .status(404) }
                guard let file = try? SceneFile(number: number).encoded() else { return .status(500) }
                return .ok(file, type: "image/\(SceneFile(number: number).format)")
                    .setting("Cache-Control", "max-age=3600")
            }
            self.origin = origin
            items = (0..<count).map { number in
                let file = SceneFile(number: number)
                let url = origin.url(for: "/\(number).\(file.format)")
                let request = ImageRequest(url: url).map { request in
                    var request = request
                    // The port changes from run to run; the picture does not.
                    request.resource = ResourceKey("landscape:\(number)")
                    return request
                }
                return GalleryItem(
                    name: file.name, origin: url.absoluteString,
                    request: request.map { .success($0) } ?? .failure(UsageError("not a URL")), number: number)
            }
        }
    }
#endif
