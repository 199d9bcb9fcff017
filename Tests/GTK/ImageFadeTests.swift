#if GTK
    import AlcedoGTK
    import Testing

    @Suite struct ImageFadeTests {
        @Test func `a fade begins with the first frame after its request`() {
            var fade = ImageFade()
            fade.start(lasting: .milliseconds(100))

            fade.advance(to: .seconds(7))
            #expect(fade.isRunning)
            #expect(fade.opacity == 0)
            fade.advance(to: .seconds(7) + .milliseconds(50))
            #expect(fade.isRunning)
            #expect(fade.opacity == 0.75)
            fade.advance(to: .seconds(7) + .milliseconds(100))
            #expect(!fade.isRunning)
            #expect(fade.opacity == 1)
        }

        @Test func `a late frame ends the fade`() {
            var fade = ImageFade()
            fade.start(lasting: .milliseconds(100))
            fade.advance(to: .zero)

            fade.advance(to: .seconds(60))
            #expect(!fade.isRunning)
        }

        @Test func `a clock that goes back keeps the fade at its start`() {
            var fade = ImageFade()
            fade.start(lasting: .milliseconds(100))
            fade.advance(to: .seconds(5))

            fade.advance(to: .seconds(4))
            #expect(fade.isRunning)
            #expect(fade.opacity == 0)
        }

        @Test func `a fade without duration ends at once`() {
            var fade = ImageFade()
            fade.start(lasting: .zero)

            fade.advance(to: .seconds(1))
            #expect(!fade.isRunning)
            #expect(fade.opacity == 1)
        }
    }
#endif
